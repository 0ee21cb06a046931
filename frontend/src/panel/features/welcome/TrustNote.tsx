import { useEffect, useState } from "react";
import type { TrustedWorkspace } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { leaf } from "../../shared/format.ts";
import { Icon } from "../../shared/icons.tsx";
import ui from "../../shared/ui.module.css";
import { showError } from "../../stores/toasts.ts";
import styles from "./Welcome.module.css";

/** Shown for a workspace that you haven't trusted. */
export function TrustNote({ workspace }: { workspace: string }) {
  const service = useBrain();
  const [workspaces, setWorkspaces] = useState<readonly TrustedWorkspace[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    service.trust(stop.signal).then(
      (answer) => setWorkspaces(answer.workspaces),
      () => {},
    );
    return () => stop.abort();
  }, [service]);
  const own = workspaces.find((one) => one.workspace === workspace);
  if (own === undefined || own.trusted) return null;
  const trust = () =>
    void service.setTrust({ workspace, trusted: true }).then((answer) => setWorkspaces(answer.workspaces), showError);
  return (
    <p className={styles.trust}>
      <Icon name="shield" />
      <span>
        {own.changed
          ? `${own.why} `
          : `${leaf(workspace)} is not trusted: its own configuration and commands are ignored. `}
        <button type="button" className={ui.link} onClick={trust}>
          {own.changed ? "Trust it again" : "Trust it"}
        </button>
        {own.diff && <pre>{own.diff}</pre>}
      </span>
    </p>
  );
}
