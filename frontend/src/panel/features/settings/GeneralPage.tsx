import ui from "../../shared/ui.module.css";
import { setPreferences, type Theme, usePreferences } from "../../stores/preferences.ts";
import { showError } from "../../stores/toasts.ts";
import { Section } from "./Section.tsx";
import styles from "./settings.module.css";

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
  ["contrast", "High contrast"],
];

/** The preferences of this browser. */
export function GeneralPage() {
  const current = usePreferences();
  return (
    <>
      <Section title="Appearance">
        <fieldset className={ui.segments}>
          <legend className={ui.visuallyHidden}>Theme</legend>
          {THEMES.map(([value, label]) => (
            <label key={value}>
              <input
                type="radio"
                name="theme"
                checked={current.theme === value}
                onChange={() => setPreferences({ theme: value })}
              />
              <span>{label}</span>
            </label>
          ))}
        </fieldset>
      </Section>
      <Section title="Limits">
        <label className={styles.field}>
          <span>Time limit, in minutes</span>
          <input
            type="number"
            min={1}
            max={10_080}
            value={current.maxMinutes}
            onChange={(event) => setPreferences({ maxMinutes: Math.max(1, Number(event.target.value) || 60) })}
          />
        </label>
        <label className={styles.field}>
          <span>Cost limit, in US dollars</span>
          <input
            type="number"
            min={0}
            step={0.1}
            placeholder="no limit"
            value={current.maxCostUsd ?? ""}
            onChange={(event) =>
              setPreferences({ maxCostUsd: event.target.value === "" ? null : Math.max(0, Number(event.target.value)) })
            }
          />
        </label>
      </Section>
      <Section title="Notifications">
        <label className={styles.field}>
          <span>Notify me when a task ends or waits for me while this window is in the background</span>
          <input
            type="checkbox"
            checked={current.notifications}
            onChange={(event) => void setNotifications(event.target.checked)}
          />
        </label>
      </Section>
    </>
  );
}

async function setNotifications(enabled: boolean): Promise<void> {
  if (!enabled) return setPreferences({ notifications: false });
  if (typeof Notification === "undefined") return showError(new Error("This browser can't show notifications."));
  const permission = await Notification.requestPermission();
  if (permission === "granted") setPreferences({ notifications: true });
  else showError(new Error("The browser blocks notifications for this page."));
}
