import { useEffect, useState } from "react";
import { useCommands } from "../../stores/commands.ts";
import { appendToComposer, replaceComposer } from "../../stores/composer.ts";
import { type HostContext, host, postToHost } from "../../stores/host.ts";
import { selectTask } from "../../stores/location.ts";
import { setPreferences } from "../../stores/preferences.ts";
import type { Embedder } from "./embedder.ts";
import { type HostMessage, themeVariables } from "./protocol.ts";

const MOST_TEXT = 100_000;

/** Talks to what embeds the panel, if there is something. */
export function useHost(embedder: Embedder | undefined): void {
  const [commands, setCommands] = useState<readonly { id: string; title: string }[]>([]);
  useEffect(() => {
    if (embedder === undefined) return;
    const send = (message: Record<string, unknown>) => embedder.post(message);
    const receive = (message: HostMessage) => {
      switch (message.type) {
        case "rainy.hello": {
          const offers = new Set((message.offers ?? []).filter((one) => one === "insert" || one === "openFile"));
          return host.dispatch({ offers, send });
        }
        case "rainy.theme":
          if (message.theme && ["system", "light", "dark", "contrast"].includes(message.theme))
            setPreferences({ theme: message.theme });
          for (const [name, value] of themeVariables(message.variables ?? {}))
            document.documentElement.style.setProperty(name, value);
          return;
        case "rainy.context":
          return host.dispatch({ context: parseContext(message.context) });
        case "rainy.compose": {
          const text = message.text.slice(0, MOST_TEXT);
          return message.append === true ? appendToComposer(text) : replaceComposer(text);
        }
        case "rainy.openTask":
          return selectTask(message.taskId);
        case "rainy.commands":
          return setCommands(
            message.commands
              .filter((one) => typeof one?.id === "string" && typeof one.title === "string")
              .slice(0, 500)
              .map(({ id, title }) => ({ id, title: title.slice(0, 200) })),
          );
      }
    };
    const stop = embedder.listen(receive);
    embedder.post({ type: "rainy.ready", version: 1 });
    return stop;
  }, [embedder]);
  useCommands(
    commands.map((command) => ({
      id: `host.${command.id}`,
      title: command.title,
      group: "Editor",
      run: () => postToHost({ type: "rainy.command", id: command.id }),
    })),
  );
}

const parseContext = (given: Record<string, unknown>): HostContext => ({
  ...(typeof given["workspace"] === "string" ? { workspace: given["workspace"].slice(0, 4_096) } : {}),
  ...(typeof given["currentFile"] === "string" ? { currentFile: given["currentFile"].slice(0, 4_096) } : {}),
  ...(typeof given["selectedCode"] === "string" ? { selectedCode: given["selectedCode"].slice(0, 200_000) } : {}),
  ...(Array.isArray(given["openFiles"])
    ? { openFiles: given["openFiles"].filter((one) => typeof one === "string").slice(0, 1_000) as string[] }
    : {}),
});
