import type { Options } from "../../../wire/types.ts";
import { type Choice, Menu } from "../../shared/menu.tsx";
import { defaultModel, useModels } from "../../stores/catalog.ts";
import { setPreferences, usePreferences } from "../../stores/preferences.ts";
import styles from "./Composer.module.css";

const APPROVALS: readonly Choice<NonNullable<Options["approvals"]>>[] = [
  { value: "ask", label: "Ask first", hint: "Commands wait for your approval" },
  { value: "edits", label: "Ask before edits too", hint: "Edits and commands wait for your approval" },
  { value: "auto", label: "Never ask", hint: "What needs your approval is denied" },
  { value: "readonly", label: "Read only", hint: "Makes no changes" },
];

/** The model and the approval mode of the next task. */
export function Pickers() {
  const { approvals, model } = usePreferences();
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
  return (
    <div className={styles.pickers}>
      <Menu
        label="Approvals"
        value={approvals}
        choices={APPROVALS}
        onChoose={(value) => setPreferences({ approvals: value })}
      />
      <Menu
        label="Model"
        value={model === configured ? null : model}
        choices={choices}
        onChoose={(value) => setPreferences({ model: value })}
      />
    </div>
  );
}
