import { type FormEvent, useEffect, useState } from "react";
import type { KeyInfo } from "../../../../wire/types.ts";
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
export function Keys() {
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
        A key is tested with one small request before it is stored in your system's keyring or a private file.
      </p>
      <ul className={styles.rows} aria-label="Keys">
        {keys.map((key) => (
          <Provider key={key.provider} info={key} onKeys={setKeys} />
        ))}
      </ul>
    </Section>
  );
}

interface Props {
  readonly info: KeyInfo;
  readonly onKeys: (keys: readonly KeyInfo[]) => void;
}

function Provider({ info, onKeys }: Props) {
  const service = useBrain();
  const { busy, result, run } = useAction();
  const [changing, setChanging] = useState(false);
  // A key that failed its test: it can be stored all the same, for example without a network.
  const [refused, setRefused] = useState("");
  const { provider, place, removable, variables } = info;
  const name = NAMES[provider] ?? provider;
  const test = (key?: string) => service.testModel({ model: provider, ...(key === undefined ? {} : { key }) });
  const store = async (key?: string) => {
    onKeys((await service.setKey(provider, key)).keys);
    setChanging(false);
    setRefused("");
    await loadModels(service);
  };
  const save = (key: string) =>
    run(async () => {
      const { ok, message } = await test(key);
      if (ok) await store(key);
      else setRefused(key);
      return { ok, text: ok ? message : `${message} Nothing was changed.` };
    });
  return (
    <li>
      <div>
        <strong>{name}</strong>
        <small>{place === null ? `No key. You can also set ${variables.join(" or ")}.` : `Key: ${place}.`}</small>
      </div>
      {place === null || changing ? (
        <KeyForm name={name} busy={busy} onSave={save} onCancel={changing ? () => setChanging(false) : undefined} />
      ) : (
        <>
          <button
            type="button"
            className={ui.button}
            disabled={busy}
            aria-label={`Test ${name}`}
            onClick={() => void run(async () => test().then(({ ok, message }) => ({ ok, text: message })))}
          >
            Test
          </button>
          <button
            type="button"
            className={ui.button}
            disabled={busy}
            aria-label={`Change the key of ${name}`}
            onClick={() => setChanging(true)}
          >
            Change
          </button>
          {removable && (
            <button
              type="button"
              className={ui.button}
              disabled={busy}
              aria-label={`Remove the key of ${name}`}
              onClick={() => void run(() => store().then(() => ({ ok: true, text: "Key removed." })))}
            >
              Remove
            </button>
          )}
        </>
      )}
      <ActionResult busy={busy} progress="Testing it with a small request…" result={result} />
      {refused !== "" && !busy && (
        <button
          type="button"
          className={ui.link}
          onClick={() => void run(() => store(refused).then(() => ({ ok: true, text: "Stored without a test." })))}
        >
          Store it anyway
        </button>
      )}
    </li>
  );
}

interface FormProps {
  readonly name: string;
  readonly busy: boolean;
  readonly onSave: (key: string) => Promise<void>;
  readonly onCancel: (() => void) | undefined;
}

function KeyForm({ name, busy, onSave, onCancel }: FormProps) {
  const [typed, setTyped] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void onSave(typed.trim());
    setTyped("");
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <input
        type="password"
        autoComplete="off"
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: you pressed Change to type into it
        autoFocus={onCancel !== undefined}
        aria-label={`Key of ${name}`}
        placeholder="Paste a key"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <button type="submit" className={ui.button} disabled={busy || typed.trim() === ""}>
        Save
      </button>
      {onCancel && (
        <button type="button" className={ui.button} onClick={onCancel}>
          Keep the old one
        </button>
      )}
    </form>
  );
}
