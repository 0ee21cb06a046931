import { type FormEvent, useState } from "react";
import type { ModelList, RoleInfo, UseRequest } from "../../../../wire/types.ts";
import { useBrain } from "../../../shared/brain.tsx";
import { lookAtModels } from "../../../shared/models.ts";
import { Section } from "../Section.tsx";
import { Outcome } from "./Outcome.tsx";
import { useAct } from "./useAct.ts";

const DUTIES: Record<string, string> = {
  smart: "writes the code",
  fast: "plans and reviews",
  instant: "does simple commands",
};
const KNOWN = "known-models";

/** Who plays which role, and choosing another. */
export function Roles({ models }: { models: ModelList | undefined }) {
  const names = [...new Set(["auto", "offline/basic", ...(models?.models.map((model) => model.name) ?? [])])];
  return (
    <Section title="Who does what">
      <datalist id={KNOWN}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <ul className="rows" aria-label="Roles">
        {models?.roles.map((role) => (
          <Role key={role.role} info={role} models={models} />
        ))}
      </ul>
    </Section>
  );
}

function Role({ info, models }: { info: RoleInfo; models: ModelList }) {
  const service = useBrain();
  const { busy, told, run } = useAct();
  const [typed, setTyped] = useState<string>();
  const { role, chain } = info;
  const broken = models.models.find((model) => model.name === chain[0] && !model.available);
  const choose = (event: FormEvent) => {
    event.preventDefault();
    const model = typed?.trim();
    if (!model) return;
    void run(async () => {
      const answer = await service.chooseModel({ model, role: role as NonNullable<UseRequest["role"]> });
      await lookAtModels(service);
      if (answer.changed) setTyped(undefined);
      return { ok: answer.changed, text: answer.message };
    });
  };
  return (
    <li>
      <div>
        <strong>{chain.join(", then ")}</strong>
        <small>
          {role}: {DUTIES[role] ?? ""}
          {broken && ` · ${broken.why}`}
        </small>
      </div>
      {typed === undefined ? (
        <button type="button" className="button" aria-label={`Change ${role}`} onClick={() => setTyped("")}>
          Change
        </button>
      ) : (
        <form className="key-form" onSubmit={choose}>
          <input
            type="text"
            list={KNOWN}
            spellCheck={false}
            // biome-ignore lint/a11y/noAutofocus: it is there because somebody wants to type into it
            autoFocus
            aria-label={`Model for ${role}`}
            placeholder="provider/name"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <button type="submit" className="button" disabled={busy || typed.trim() === ""}>
            Use
          </button>
        </form>
      )}
      <Outcome busy={busy} doing="Trying it first…" told={told} />
    </li>
  );
}
