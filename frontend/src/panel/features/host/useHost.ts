import { useEffect, useState } from "react";
import { useCommands } from "../../stores/commands.ts";
import { appendToComposer, replaceComposer } from "../../stores/composer.ts";
import { type HostContext, host, postToHost } from "../../stores/host.ts";
import { setPreferences } from "../../stores/preferences.ts";
import { type HostMessage, isHostMessage, themeVariables } from "./protocol.ts";

const MOST_TEXT = 100_000;

/**
 * Talks to the window that embeds the panel, if there is one. It listens to that window only; the sidecar's policy
 * decides which pages may embed the panel.
 */
export function useHost(): void {
  const [commands, setCommands] = useState<readonly { id: string; title: string }[]>([]);
  useEffect(() => {
    const embedded = window.parent !== window;
    let origin: string | undefined;
    const send = (message: Record<string, unknown>) => {
      if (origin !== undefined) window.parent.postMessage(message, origin);
    };
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
        case "rainy.commands":
          return setCommands(
            message.commands
              .filter((one) => typeof one?.id === "string" && typeof one.title === "string")
              .slice(0, 500)
              .map(({ id, title }) => ({ id, title: title.slice(0, 200) })),
          );
      }
    };
    const onMessage = (event: MessageEvent<unknown>) => {
      if (!embedded || event.source !== window.parent || !isHostMessage(event.data)) return;
      origin ??= event.origin;
      if (event.origin === origin) receive(event.data);
    };
    window.addEventListener("message", onMessage);
    // Any page may receive this message: it says only that the panel is ready.
    if (embedded) window.parent.postMessage({ type: "rainy.ready", version: 1 }, "*");
    return () => window.removeEventListener("message", onMessage);
  }, []);
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
  ...(typeof given["currentFile"] === "string" ? { currentFile: given["currentFile"].slice(0, 4_096) } : {}),
  ...(typeof given["selectedCode"] === "string" ? { selectedCode: given["selectedCode"].slice(0, 200_000) } : {}),
  ...(Array.isArray(given["openFiles"])
    ? { openFiles: given["openFiles"].filter((one) => typeof one === "string").slice(0, 1_000) as string[] }
    : {}),
});
