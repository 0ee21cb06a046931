import { useEffect, useState } from "react";
import type { StatusAnswer } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { bytes, duration, plural } from "../../shared/words.ts";
import { Section } from "./Section.tsx";

export function AboutPage() {
  const service = useBrain();
  const [now, setNow] = useState<StatusAnswer>();
  useEffect(() => {
    const stop = new AbortController();
    service.status(stop.signal).then(setNow, () => {});
    return () => stop.abort();
  }, [service]);
  if (now === undefined) return <p className="settings-note">Asking the sidecar…</p>;
  const tasks = Object.values(now.tasks).reduce((sum, one) => sum + one, 0);
  const shells = now.shells.filter((shell) => shell.connected).map((shell) => `${shell.name} ${shell.version}`);
  const facts: [string, string][] = [
    ["Version", now.version],
    ["Workspace", now.workspace],
    ["Process", `${now.pid}, up for ${duration(now.uptimeSeconds * 1_000)}`],
    ["Tasks", plural(tasks, "task")],
    ["Journal", `${now.journal.path}, ${bytes(now.journal.sizeBytes)}, ${now.journal.state}`],
    ["Sandbox", now.sandbox.message || now.sandbox.tier],
    ["Editors and shells", shells.join(", ") || "none is connected; the sidecar does everything itself"],
  ];
  return (
    <Section title="This sidecar">
      <dl className="values">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {now.journal.message && <p className="note note-warn">{now.journal.message}</p>}
    </Section>
  );
}
