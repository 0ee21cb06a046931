import { type Choice, Menu } from "../../shared/menu.tsx";
import { MODES } from "../../shared/modes.ts";
import { defaultModel, useModels } from "../../stores/catalog.ts";
import { setPreferences, usePreferences } from "../../stores/preferences.ts";
import styles from "./Composer.module.css";

const EFFORTS = [null, "low", "medium", "high"] as const;

/** The model and the approval mode of the next task. */
export function Pickers() {
  const { approvals, model, effort } = usePreferences();
  const models = useModels();
  const configured = defaultModel(models);
  const known = models?.models ?? [];
  const choices: Choice<string | null>[] = [
    { value: null, label: configured ?? "default model", hint: "as configured" },
    ...known
      .filter((one) => one.name !== configured)
      .map((one) => ({ value: one.name, label: one.name, hint: one.why, disabled: !one.available })),
    ...(model !== null && !known.some((one) => one.name === model) ? [{ value: model, label: model }] : []),
  ];
  const reasons = !/^(offline|scripted)\b/.test(model ?? configured ?? "offline");
  return (
    <div className={styles.pickers}>
      <Menu
        label="Approvals"
        value={approvals}
        choices={MODES}
        onChoose={(value) => setPreferences({ approvals: value })}
      />
      <Menu
        label="Model"
        value={model === configured ? null : model}
        choices={choices}
        searchable={choices.length > 6}
        onChoose={(value) => setPreferences({ model: value })}
        suffix={reasons && effort !== null ? effort : undefined}
      >
        {reasons && (
          <div className={styles.effort} role="group" aria-label="Reasoning effort">
            <small>Reasoning effort</small>
            {EFFORTS.map((value) => (
              <button
                key={value}
                type="button"
                role="menuitemradio"
                aria-checked={effort === value}
                data-choice=""
                onClick={() => setPreferences({ effort: value })}
              >
                <span>{value ?? "default"}</span>
              </button>
            ))}
          </div>
        )}
      </Menu>
    </div>
  );
}
