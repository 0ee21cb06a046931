import { type FormEvent, useEffect, useState } from "react";
import type { KeyInfo, ModelList } from "../../../../wire/types.ts";
import { useBrain } from "../../../shared/brain.tsx";
import ui from "../../../shared/ui.module.css";
import { loadModels } from "../../../stores/catalog.ts";
import { showError } from "../../../stores/toasts.ts";
import { Section } from "../Section.tsx";
import styles from "../settings.module.css";
import { ActionResult } from "./ActionResult.tsx";
import { useAction } from "./useAction.ts";

const NAMES: Record<string, string> = { anthropic: "Anthropic", gemini: "Gemini", groq: "Groq", openai: "OpenAI" };

/** The providers' keys. The sidecar stores and tests a key, and never shows it again. */
export function Keys({ models }: { models: ModelList | undefined }) {
  const service = useBrain();
  const [keys, setKeys] = useState<readonly KeyInfo[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    service.keys(stop.signal).then(
      (answer) => setKeys(answer.keys),
      (error: unknown) => stop.signal.aborted || showError(error),
    );
    return () => stop.abort();
  }, [service]);
  return (
    <Section title="Keys">
      <p className={ui.hint}>
        Keys are stored in your system's keyring or in a private file, and sent to their provider only.
      </p>
      <ul className={styles.rows} aria-label="Keys">
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
  const { busy, result, run } = useAction();
  const [typed, setTyped] = useState("");
  const { provider, place, removable, variables } = info;
  const name = NAMES[provider] ?? provider;
  const test = async (list: ModelList | undefined) => {
    const model = list?.models.find((one) => one.provider === provider)?.name;
    if (model === undefined) return { ok: true, text: `Stored. No model of ${name} is in use yet; choose one below.` };
    const { ok, message } = await service.testModel({ model });
    return { ok, text: message };
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      onKeys((await service.setKey(provider, typed)).keys);
      setTyped("");
      await loadModels(service);
      return test(await service.models());
    });
  };
  const remove = () =>
    run(async () => {
      onKeys((await service.setKey(provider)).keys);
      await loadModels(service);
      return { ok: true, text: "Key removed." };
    });
  return (
    <li>
      <div>
        <strong>{name}</strong>
        <small>{place === null ? `No key. You can also set ${variables.join(" or ")}.` : `Key: ${place}.`}</small>
      </div>
      {place === null ? (
        <form className={styles.form} onSubmit={save}>
          <input
            type="password"
            autoComplete="off"
            spellCheck={false}
            aria-label={`Key of ${name}`}
            placeholder="Paste a key"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <button type="submit" className={ui.button} disabled={busy || typed.trim() === ""}>
            Save
          </button>
        </form>
      ) : (
        <>
          <button
            type="button"
            className={ui.button}
            disabled={busy}
            aria-label={`Test ${name}`}
            onClick={() => void run(() => test(models))}
          >
            Test
          </button>
          {removable && (
            <button
              type="button"
              className={ui.button}
              disabled={busy}
              aria-label={`Remove the key of ${name}`}
              onClick={() => void remove()}
            >
              Remove
            </button>
          )}
        </>
      )}
      <ActionResult busy={busy} progress="Testing with a small request…" result={result} />
    </li>
  );
}
