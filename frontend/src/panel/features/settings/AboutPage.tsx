import { useEffect, useState } from "react";
import type { StatusAnswer } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { bytes, duration, plural } from "../../shared/format.ts";
import ui from "../../shared/ui.module.css";
import { Section } from "./Section.tsx";

export function AboutPage() {
  const service = useBrain();
  const [status, setStatus] = useState<StatusAnswer>();
  useEffect(() => {
    const stop = new AbortController();
    service.status(stop.signal).then(setStatus, () => {});
    return () => stop.abort();
  }, [service]);
  if (status === undefined) return <p className={ui.hint}>Loading…</p>;
  const tasks = Object.values(status.tasks).reduce((sum, one) => sum + one, 0);
  const shells = status.shells.filter((shell) => shell.connected).map((shell) => `${shell.name} ${shell.version}`);
  const facts: [string, string][] = [
    ["Version", status.version],
    ["Workspace", status.workspace],
    ["Process", `${status.pid}, running for ${duration(status.uptimeSeconds * 1_000)}`],
    ["Tasks", plural(tasks, "task")],
    ["Journal", `${status.journal.path}, ${bytes(status.journal.sizeBytes)}, ${status.journal.state}`],
    ["Sandbox", status.sandbox.message || status.sandbox.tier],
    ["Editors and shells", shells.join(", ") || "none connected; the sidecar runs every tool itself"],
  ];
  return (
    <Section title="This sidecar">
      <dl className={ui.values}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {status.journal.message && (
        <p className={ui.note} data-tone="warn">
          {status.journal.message}
        </p>
      )}
    </Section>
  );
}
