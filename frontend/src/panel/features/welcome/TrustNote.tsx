import { useEffect, useState } from "react";
import type { TrustedWorkspace } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Icon } from "../../shared/icons.tsx";
import { complain } from "../../shared/toasts.tsx";
import { leaf } from "../../shared/words.ts";

/** Where the workspace is not trusted: that it is so, why, and the one word that changes it. */
export function TrustNote({ workspace }: { workspace: string }) {
  const service = useBrain();
  const [standings, setStandings] = useState<readonly TrustedWorkspace[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    service.trust(stop.signal).then(
      (answer) => setStandings(answer.workspaces),
      () => {},
    );
    return () => stop.abort();
  }, [service]);
  const own = standings.find((one) => one.workspace === workspace);
  if (own === undefined || own.trusted) return null;
  const trust = () =>
    void service.setTrust({ workspace, trusted: true }).then((answer) => setStandings(answer.workspaces), complain);
  return (
    <p className="welcome-trust">
      <Icon name="shield" />
      <span>
        {leaf(workspace)} is not trusted: what it would configure or start by itself is left alone.{" "}
        <button type="button" className="link" onClick={trust}>
          Trust it
        </button>
      </span>
    </p>
  );
}
