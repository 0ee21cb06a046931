import { useEffect, useState } from "react";
import type { ModelList, Options } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { prefer, usePreferences } from "../../shared/preferences.ts";

const APPROVALS: readonly (readonly [NonNullable<Options["approvals"]>, string])[] = [
  ["ask", "Ask first"],
  ["auto", "Run without asking"],
  ["readonly", "Read only"],
];

/** Which model, and how much it may do unasked: always in sight. */
export function Pickers() {
  const { approvals, model } = usePreferences();
  const service = useBrain();
  const [models, setModels] = useState<ModelList>();
  useEffect(() => {
    const stop = new AbortController();
    service.models(stop.signal).then(setModels, () => {});
    return () => stop.abort();
  }, [service]);
  const usual = models?.roles.find((role) => role.role === "smart")?.chain[0];
  return (
    <div className="pickers">
      <select aria-label="Approvals" value={approvals} onChange={(event) => prefer({ approvals: event.target.value as typeof approvals })}>
        {APPROVALS.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <select aria-label="Model" value={model ?? ""} onChange={(event) => prefer({ model: event.target.value || null })}>
        <option value="">{usual ?? "default model"}</option>
        {models?.models
          .filter((one) => one.name !== usual)
          .map((one) => (
            <option key={one.name} value={one.name} disabled={!one.available}>
              {one.name}
            </option>
          ))}
        {model !== null && !models?.models.some((one) => one.name === model) && <option value={model}>{model}</option>}
      </select>
    </div>
  );
}
