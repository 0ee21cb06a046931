import { useCallback, useEffect, useState } from "react";
import type { LocalModelInfo, LocalServerInfo } from "../../../../wire/types.ts";
import { useBrain } from "../../../shared/brain.tsx";
import { count } from "../../../shared/format.ts";
import { Icon } from "../../../shared/icons.tsx";
import ui from "../../../shared/ui.module.css";
import { loadModels, useModels } from "../../../stores/catalog.ts";
import { showError } from "../../../stores/toasts.ts";
import { Section } from "../Section.tsx";
import styles from "../settings.module.css";
import { ActionResult } from "./ActionResult.tsx";
import { useAction } from "./useAction.ts";

/** The model servers on this machine. The sidecar looks for them only while this page is open. */
export function LocalServers() {
  const service = useBrain();
  const [servers, setServers] = useState<readonly LocalServerInfo[]>();
  const load = useCallback(
    (signal?: AbortSignal) => {
      setServers(undefined);
      service.localModels(signal).then(
        (answer) => setServers(answer.servers),
        (error: unknown) => {
          if (signal?.aborted) return;
          setServers([]);
          showError(error);
        },
      );
    },
    [service],
  );
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal);
    return () => stop.abort();
  }, [load]);
  const reload = (
    <button type="button" className={ui.plain} disabled={servers === undefined} onClick={() => load()}>
      <Icon name="retry" /> Search again
    </button>
  );
  return (
    <Section title="On this machine" aside={reload}>
      {servers === undefined && <p className={ui.hint}>Searching for model servers…</p>}
      {servers?.length === 0 && (
        <p className={ui.hint}>
          None found. Start Ollama, LM Studio, llama.cpp or vLLM on its default port; no key is needed.
        </p>
      )}
      {servers?.map((server) => (
        <ul key={server.baseUrl} className={styles.rows} aria-label={`${server.kind} at ${server.baseUrl}`}>
          {server.models.length === 0 && (
            <li>
              {server.kind} at {server.baseUrl} has no models yet.
            </li>
          )}
          {server.models.map((model) => (
            <LocalModel key={model.name} model={model} server={server} />
          ))}
        </ul>
      ))}
    </Section>
  );
}

function LocalModel({ model, server }: { model: LocalModelInfo; server: LocalServerInfo }) {
  const service = useBrain();
  const inUse = useModels()?.roles.some((role) => role.chain[0] === model.name) ?? false;
  const { busy, result, run } = useAction();
  const { name } = model;
  const use = () =>
    run(async () => {
      const { changed, message } = await service.chooseModel({ model: name, baseUrl: server.baseUrl });
      await loadModels(service);
      return { ok: changed, text: message };
    });
  const test = () =>
    run(async () => {
      const { ok, message } = await service.testModel({ model: name, baseUrl: server.baseUrl });
      return { ok, text: message };
    });
  return (
    <li>
      <div>
        <strong>{name}</strong> {inUse && <span className={ui.tag}>in use</span>}
        <small>{[server.kind, server.baseUrl, ...capabilities(model)].join(" · ")}</small>
      </div>
      <button
        type="button"
        className={ui.button}
        disabled={busy}
        aria-label={`Test ${name}`}
        onClick={() => void test()}
      >
        Test
      </button>
      <button
        type="button"
        className={ui.primary}
        disabled={busy}
        aria-label={`Use ${name}`}
        onClick={() => void use()}
      >
        Use
      </button>
      <ActionResult busy={busy} progress="Testing with a small request…" result={result} />
    </li>
  );
}

const capabilities = ({ contextWindow, tools }: LocalModelInfo): string[] => [
  ...(contextWindow === undefined ? [] : [`${count(contextWindow)} tokens`]),
  ...(tools === undefined ? [] : [tools ? "native tool calls" : "tool calls by schema"]),
];
