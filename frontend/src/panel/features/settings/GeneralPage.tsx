import { type ComponentProps, useState } from "react";
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
        <NumberField
          label="Time limit, in minutes"
          min={1}
          max={10_080}
          required
          value={current.maxMinutes}
          onChange={(minutes) => minutes !== null && setPreferences({ maxMinutes: minutes })}
        />
        <NumberField
          label="Cost limit, in US dollars"
          min={0}
          step="any"
          placeholder="no limit"
          value={current.maxCostUsd}
          onChange={(maxCostUsd) => setPreferences({ maxCostUsd })}
        />
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

interface NumberFieldProps extends Omit<ComponentProps<"input">, "value" | "onChange"> {
  readonly label: string;
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
}

/** Takes over each valid number as you type; what isn't valid gives way to the last one when you leave the field. */
function NumberField({ label, value, onChange, ...limits }: NumberFieldProps) {
  const [typed, setTyped] = useState<string>();
  return (
    <label className={styles.field}>
      <span>{label}</span>
      <input
        {...limits}
        type="number"
        value={typed ?? value ?? ""}
        onChange={({ target }) => {
          setTyped(target.value);
          if (target.validity.valid) onChange(target.value === "" ? null : Number(target.value));
        }}
        onBlur={({ target }) => {
          setTyped(undefined);
          // Text that is no number isn't part of the value, so only this removes it.
          target.value = value === null ? "" : String(value);
        }}
      />
    </label>
  );
}

async function setNotifications(enabled: boolean): Promise<void> {
  if (!enabled) return setPreferences({ notifications: false });
  if (typeof Notification === "undefined") return showError(new Error("This browser can't show notifications."));
  const permission = await Notification.requestPermission();
  if (permission === "granted") setPreferences({ notifications: true });
  else showError(new Error("The browser blocks notifications for this page."));
}
