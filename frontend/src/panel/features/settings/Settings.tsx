import { useEffect, useState } from "react";
import type { ModelList, StatusAnswer } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Dialog } from "../../shared/dialog.tsx";
import { prefer, type Theme, usePreferences } from "../../shared/preferences.ts";
import { complain } from "../../shared/toasts.tsx";
import { bytes, duration, plural } from "../../shared/words.ts";
import { ModelsSection } from "./ModelsSection.tsx";
import { Section } from "./Section.tsx";
import { TrustSection } from "./TrustSection.tsx";

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
  ["contrast", "High contrast"],
];

interface Props {
  readonly status: StatusAnswer | undefined;
  readonly models: ModelList | undefined;
  readonly onClose: () => void;
}

export default function Settings({ status, models, onClose }: Props) {
  const chosen = usePreferences();
  return (
    <Dialog label="Settings" className="settings" onClose={onClose} titled>
      <Section title="Appearance">
        <fieldset className="segments">
          <legend className="hidden">Theme</legend>
          {THEMES.map(([value, label]) => (
            <label key={value}>
              <input
                type="radio"
                name="theme"
                checked={chosen.theme === value}
                onChange={() => prefer({ theme: value })}
              />
              <span>{label}</span>
            </label>
          ))}
        </fieldset>
      </Section>
      <ModelsSection models={models} />
      <Section title="Approvals and limits">
        <label className="field">
          <span>Before a command runs</span>
          <select
            value={chosen.approvals}
            onChange={(event) => prefer({ approvals: event.target.value as typeof chosen.approvals })}
          >
            <option value="ask">Ask first</option>
            <option value="auto">Run without asking</option>
            <option value="readonly">Read only: change nothing</option>
          </select>
        </label>
        <label className="field">
          <span>Longest time at work, minutes</span>
          <input
            type="number"
            min={1}
            max={10_080}
            value={chosen.maxMinutes}
            onChange={(event) => prefer({ maxMinutes: Math.max(1, Number(event.target.value) || 60) })}
          />
        </label>
        <label className="field">
          <span>Most that a task may cost, US dollars</span>
          <input
            type="number"
            min={0}
            step={0.1}
            placeholder="no limit"
            value={chosen.maxCostUsd ?? ""}
            onChange={(event) =>
              prefer({ maxCostUsd: event.target.value === "" ? null : Math.max(0, Number(event.target.value)) })
            }
          />
        </label>
      </Section>
      <TrustSection />
      <Section title="Notifications">
        <label className="field">
          <span>When a task ends or waits for you while this window is in the background</span>
          <input
            type="checkbox"
            checked={chosen.notifications}
            onChange={(event) => void notifications(event.target.checked)}
          />
        </label>
      </Section>
      {status && <About status={status} />}
    </Dialog>
  );
}

async function notifications(wanted: boolean): Promise<void> {
  if (!wanted) return prefer({ notifications: false });
  if (typeof Notification === "undefined") return complain(new Error("This window cannot show notifications."));
  const permission = await Notification.requestPermission();
  if (permission === "granted") prefer({ notifications: true });
  else complain(new Error("The browser does not allow notifications for this page."));
}

function About({ status }: { status: StatusAnswer }) {
  const service = useBrain();
  const [now, setNow] = useState(status);
  useEffect(() => {
    const stop = new AbortController();
    service.status(stop.signal).then(setNow, () => {});
    return () => stop.abort();
  }, [service]);
  const tasks = Object.values(now.tasks).reduce((sum, one) => sum + one, 0);
  const facts: [string, string][] = [
    ["Version", now.version],
    ["Workspace", now.workspace],
    ["Process", `${now.pid}, up for ${duration(now.uptimeSeconds * 1_000)}`],
    ["Tasks", plural(tasks, "task")],
    ["Journal", `${now.journal.path}, ${bytes(now.journal.sizeBytes)}, ${now.journal.state}`],
    ["Everything it found", "run brain doctor in a terminal"],
  ];
  return (
    <Section title="About">
      <dl className="values">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {now.journal.message && <p className="note-warn">{now.journal.message}</p>}
    </Section>
  );
}
