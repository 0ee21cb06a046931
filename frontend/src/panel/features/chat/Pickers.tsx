import type { Options } from "../../../wire/types.ts";
import { type Choice, Menu } from "../../shared/menu.tsx";
import { useModels, usual } from "../../shared/models.ts";
import { prefer, usePreferences } from "../../shared/preferences.ts";

const APPROVALS: readonly Choice<NonNullable<Options["approvals"]>>[] = [
  { value: "ask", label: "Ask first", hint: "Commands wait for your answer" },
  { value: "auto", label: "Run without asking", hint: "What is dangerous still asks" },
  { value: "readonly", label: "Read only", hint: "Nothing is changed" },
];

/** Which model, and how much it may do unasked: always in sight. */
export function Pickers() {
  const { approvals, model } = usePreferences();
  const models = useModels();
  const configured = usual(models);
  const known = models?.models ?? [];
  const choices: Choice<string | null>[] = [
    { value: null, label: configured ?? "default model", hint: "as configured" },
    ...known
      .filter((one) => one.name !== configured)
      .map((one) => ({ value: one.name, label: one.name, hint: one.why, disabled: !one.available })),
    ...(model !== null && !known.some((one) => one.name === model) ? [{ value: model, label: model }] : []),
  ];
  return (
    <div className="pickers">
      <Menu
        label="Approvals"
        value={approvals}
        choices={APPROVALS}
        onChoose={(value) => prefer({ approvals: value })}
      />
      <Menu
        label="Model"
        value={model === configured ? null : model}
        choices={choices}
        onChoose={(value) => prefer({ model: value })}
      />
    </div>
  );
}
