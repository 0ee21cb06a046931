import { type FormEvent, useEffect, useState } from "react";
import type { KeyInfo, ModelList } from "../../../../wire/types.ts";
import { useBrain } from "../../../shared/brain.tsx";
import { lookAtModels } from "../../../shared/models.ts";
import { complain } from "../../../shared/toasts.tsx";
import { Section } from "../Section.tsx";
import { Outcome } from "./Outcome.tsx";
import { useAct } from "./useAct.ts";

const NAMES: Record<string, string> = { anthropic: "Anthropic", gemini: "Gemini", groq: "Groq", openai: "OpenAI" };

/** A key is typed here, put away by the sidecar, tried at once, and never shown again. */
export function Keys({ models }: { models: ModelList | undefined }) {
  const service = useBrain();
  const [keys, setKeys] = useState<readonly KeyInfo[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    service.keys(stop.signal).then(
      (answer) => setKeys(answer.keys),
      (error: unknown) => stop.signal.aborted || complain(error),
    );
    return () => stop.abort();
  }, [service]);
  return (
    <Section title="Keys">
      <p className="settings-note">
        A key is kept in your system's keyring, or in a private file; it goes to its provider and nowhere else.
      </p>
      <ul className="rows" aria-label="Keys">
        {keys.map((key) => (
          <Provider key={key.provider} info={key} models={models} onKeys={setKeys} />
        ))}
      </ul>
    </Section>
  );
}

interface Props {
  readonly info: KeyInfo;
  readonly models: ModelList | undefined;
  readonly onKeys: (keys: readonly KeyInfo[]) => void;
}

function Provider({ info, models, onKeys }: Props) {
  const service = useBrain();
  const { busy, told, run } = useAct();
  const [typed, setTyped] = useState("");
  const { provider, place, removable, variables } = info;
  const name = NAMES[provider] ?? provider;
  const tried = async (list: ModelList | undefined) => {
    const model = list?.models.find((one) => one.provider === provider)?.name;
    if (model === undefined) return { ok: true, text: `None of the models in use is ${name}'s; name one below.` };
    const { ok, message } = await service.testModel({ model });
    return { ok, text: message };
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      onKeys((await service.setKey(provider, typed)).keys);
      setTyped("");
      await lookAtModels(service);
      return tried(await service.models());
    });
  };
  const remove = () =>
    run(async () => {
      onKeys((await service.setKey(provider)).keys);
      await lookAtModels(service);
      return { ok: true, text: "The key was removed." };
    });
  return (
    <li>
      <div>
        <strong>{name}</strong>
        <small>
          {place === null ? `No key. It is also looked for in ${variables.join(" and ")}.` : `Key: ${place}.`}
        </small>
      </div>
      {place === null ? (
        <form className="key-form" onSubmit={save}>
          <input
            type="password"
            autoComplete="off"
            spellCheck={false}
            aria-label={`Key of ${name}`}
            placeholder="Paste a key"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <button type="submit" className="button" disabled={busy || typed.trim() === ""}>
            Save
          </button>
        </form>
      ) : (
        <>
          <button
            type="button"
            className="button"
            disabled={busy}
            aria-label={`Test ${name}`}
            onClick={() => void run(() => tried(models))}
          >
            Test
          </button>
          {removable && (
            <button
              type="button"
              className="button"
              disabled={busy}
              aria-label={`Remove the key of ${name}`}
              onClick={() => void remove()}
            >
              Remove
            </button>
          )}
        </>
      )}
      <Outcome busy={busy} doing="Trying it with one small request…" told={told} />
    </li>
  );
}
