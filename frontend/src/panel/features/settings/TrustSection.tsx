import { useEffect, useState } from "react";
import type { TrustAnswer } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { complain } from "../../shared/toasts.tsx";
import { Section } from "./Section.tsx";

/** Which workspaces the person trusts. Not shown where the sidecar has no such route. */
export function TrustSection() {
  const service = useBrain();
  const [answer, setAnswer] = useState<TrustAnswer>();
  useEffect(() => {
    const stop = new AbortController();
    service.trust(stop.signal).then(setAnswer, () => {});
    return () => stop.abort();
  }, [service]);
  if (answer === undefined || answer.workspaces.length === 0) return null;
  const set = (workspace: string, trusted: boolean) =>
    service.setTrust({ workspace, trusted }).then(setAnswer, complain);
  return (
    <Section title="Trusted workspaces">
      {answer.workspaces.map(({ workspace, trusted }) => (
        <label key={workspace} className="field">
          <span>{workspace}</span>
          <input type="checkbox" checked={trusted} onChange={(event) => void set(workspace, event.target.checked)} />
        </label>
      ))}
    </Section>
  );
}
