import { prefer, type Theme, usePreferences } from "../../shared/preferences.ts";
import { complain } from "../../shared/toasts.tsx";
import { Section } from "./Section.tsx";

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
  ["contrast", "High contrast"],
];

/** What this browser remembers of the person's taste and limits. */
export function GeneralPage() {
  const chosen = usePreferences();
  return (
    <>
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
      <Section title="Limits">
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
    </>
  );
}

async function notifications(wanted: boolean): Promise<void> {
  if (!wanted) return prefer({ notifications: false });
  if (typeof Notification === "undefined") return complain(new Error("This window cannot show notifications."));
  const permission = await Notification.requestPermission();
  if (permission === "granted") prefer({ notifications: true });
  else complain(new Error("The browser does not allow notifications for this page."));
}
