import { useCallback, useEffect, useState } from "react";
import type { LocalModelInfo, LocalServerInfo } from "../../../../wire/types.ts";
import { useBrain } from "../../../shared/brain.tsx";
import { Icon } from "../../../shared/icons.tsx";
import { lookAtModels, useModels } from "../../../shared/models.ts";
import { complain } from "../../../shared/toasts.tsx";
import { count } from "../../../shared/words.ts";
import { Section } from "../Section.tsx";
import { Outcome } from "./Outcome.tsx";
import { useAct } from "./useAct.ts";

/** The model servers that run on this machine; nothing is looked for unless this page is open. */
export function LocalServers() {
  const service = useBrain();
  const [servers, setServers] = useState<readonly LocalServerInfo[]>();
  const look = useCallback(
    (signal?: AbortSignal) => {
      setServers(undefined);
      service.localModels(signal).then(
        (answer) => setServers(answer.servers),
        (error: unknown) => {
          if (signal?.aborted) return;
          setServers([]);
          complain(error);
        },
      );
    },
    [service],
  );
  useEffect(() => {
    const stop = new AbortController();
    look(stop.signal);
    return () => stop.abort();
  }, [look]);
  const again = (
    <button type="button" className="button button-plain" disabled={servers === undefined} onClick={() => look()}>
      <Icon name="retry" /> Look again
    </button>
  );
  return (
    <Section title="On this machine" aside={again}>
      {servers === undefined && <p className="settings-note">Looking for model servers…</p>}
      {servers?.length === 0 && (
        <p className="settings-note">
          None was found. Ollama, LM Studio, llama.cpp and vLLM are found when they run on their usual ports; they need
          no key.
        </p>
      )}
      {servers?.map((server) => (
        <ul key={server.baseUrl} className="rows" aria-label={`${server.kind} at ${server.baseUrl}`}>
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
  const { busy, told, run } = useAct();
  const { name } = model;
  const use = () =>
    run(async () => {
      const { changed, message } = await service.chooseModel({ model: name, baseUrl: server.baseUrl });
      await lookAtModels(service);
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
        <strong>{name}</strong> {inUse && <span className="tag">in use</span>}
        <small>{[server.kind, server.baseUrl, ...abilities(model)].join(" · ")}</small>
      </div>
      <button type="button" className="button" disabled={busy} aria-label={`Test ${name}`} onClick={() => void test()}>
        Test
      </button>
      <button
        type="button"
        className="button button-primary"
        disabled={busy}
        aria-label={`Use ${name}`}
        onClick={() => void use()}
      >
        Use
      </button>
      <Outcome busy={busy} doing="Asking it something small…" told={told} />
    </li>
  );
}

const abilities = ({ contextWindow, tools }: LocalModelInfo): string[] => [
  ...(contextWindow === undefined ? [] : [`${count(contextWindow)} tokens`]),
  ...(tools === undefined ? [] : [tools ? "can call tools" : "calls tools by a schema"]),
];
