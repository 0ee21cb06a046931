import { type FormEvent, useState } from "react";
import type { ModelList, RoleInfo, UseRequest } from "../../../../wire/types.ts";
import { useBrain } from "../../../shared/brain.tsx";
import ui from "../../../shared/ui.module.css";
import { loadModels } from "../../../stores/catalog.ts";
import { Section } from "../Section.tsx";
import styles from "../settings.module.css";
import { ActionResult } from "./ActionResult.tsx";
import { useAction } from "./useAction.ts";

const PURPOSES: Record<string, string> = {
  smart: "writes the code",
  fast: "plans and reviews",
  instant: "runs simple commands",
};
const KNOWN = "known-models";

/** The model of each role, to view and change. */
export function Roles({ models }: { models: ModelList | undefined }) {
  const names = [...new Set(["auto", "offline/basic", ...(models?.models.map((model) => model.name) ?? [])])];
  return (
    <Section title="Model roles">
      <datalist id={KNOWN}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <ul className={styles.rows} aria-label="Roles">
        {models?.roles.map((role) => (
          <Role key={role.role} info={role} models={models} />
        ))}
      </ul>
    </Section>
  );
}

function Role({ info, models }: { info: RoleInfo; models: ModelList }) {
  const service = useBrain();
  const { busy, result, run } = useAction();
  const [typed, setTyped] = useState<string>();
  const { role, chain } = info;
  const broken = models.models.find((model) => model.name === chain[0] && !model.available);
  const choose = (event: FormEvent) => {
    event.preventDefault();
    const model = typed?.trim();
    if (!model) return;
    void run(async () => {
      const answer = await service.chooseModel({ model, role: role as NonNullable<UseRequest["role"]> });
      await loadModels(service);
      if (answer.changed) setTyped(undefined);
      return { ok: answer.changed, text: answer.message };
    });
  };
  return (
    <li>
      <div>
        <strong>{chain.join(", then ")}</strong>
        <small>
          {role}: {PURPOSES[role] ?? ""}
          {broken && ` · ${broken.why}`}
        </small>
      </div>
      {typed === undefined ? (
        <button type="button" className={ui.button} aria-label={`Change ${role}`} onClick={() => setTyped("")}>
          Change
        </button>
      ) : (
        <form className={styles.form} onSubmit={choose}>
          <input
            type="text"
            list={KNOWN}
            spellCheck={false}
            // biome-ignore lint/a11y/noAutofocus: it appears when you want to type into it
            autoFocus
            aria-label={`Model for ${role}`}
            placeholder="provider/name"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <button type="submit" className={ui.button} disabled={busy || typed.trim() === ""}>
            Use
          </button>
        </form>
      )}
      <ActionResult busy={busy} progress="Testing it first…" result={result} />
    </li>
  );
}
