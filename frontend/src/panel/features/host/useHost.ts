import { useEffect, useState } from "react";
import type { Context } from "../../../wire/types.ts";
import { useCommands } from "../../shared/commands.ts";
import { composerText } from "../../shared/composer-text.ts";
import { hostPort } from "../../shared/host-port.ts";
import { prefer } from "../../shared/preferences.ts";
import { Store } from "../../shared/store.ts";
import { type HostMessage, isHostMessage, themeVariables } from "./protocol.ts";

const context = new Store<Pick<Context, "currentFile" | "selectedCode" | "openFiles">>({});

/** What the editor around the panel has open; goes with the next task. */
export const hostContext = context.get;

/**
 * Talks with the window that the panel is embedded in, if there is one. Only that window is listened to; the policy of
 * the sidecar decides who may embed at all.
 */
export function useHost(): void {
  const [commands, setCommands] = useState<readonly { id: string; title: string }[]>([]);
  useEffect(() => {
    const embedded = window.parent !== window;
    let origin: string | undefined;
    const send = (message: Record<string, unknown>) => {
      if (origin !== undefined) window.parent.postMessage(message, origin);
    };
    const take = (message: HostMessage) => {
      switch (message.type) {
        case "rainy.hello": {
          const offers = new Set((message.offers ?? []).filter((one) => one === "insert" || one === "openFile"));
          return hostPort.set({ offers, send });
        }
        case "rainy.theme":
          if (message.theme && ["system", "light", "dark", "contrast"].includes(message.theme))
            prefer({ theme: message.theme });
          for (const [name, value] of themeVariables(message.variables ?? {}))
            document.documentElement.style.setProperty(name, value);
          return;
        case "rainy.context":
          return context.set(contextOf(message.context));
        case "rainy.compose":
          return composerText.set({ text: message.text.slice(0, 100_000), append: message.append === true });
        case "rainy.commands":
          return setCommands(
            message.commands
              .filter((one) => typeof one?.id === "string" && typeof one.title === "string")
              .slice(0, 500)
              .map(({ id, title }) => ({ id, title: title.slice(0, 200) })),
          );
      }
    };
    const heard = (event: MessageEvent<unknown>) => {
      if (!embedded || event.source !== window.parent || !isHostMessage(event.data)) return;
      origin ??= event.origin;
      if (event.origin === origin) take(event.data);
    };
    window.addEventListener("message", heard);
    // It says nothing but that it is there, so whoever is around may hear it.
    if (embedded) window.parent.postMessage({ type: "rainy.ready", version: 1 }, "*");
    return () => window.removeEventListener("message", heard);
  }, []);
  useCommands(
    commands.map((command) => ({
      id: `host.${command.id}`,
      title: command.title,
      group: "Editor",
      run: () => hostPort.get()?.send({ type: "rainy.command", id: command.id }),
    })),
  );
}

const contextOf = (given: Record<string, unknown>): Pick<Context, "currentFile" | "selectedCode" | "openFiles"> => ({
  ...(typeof given["currentFile"] === "string" ? { currentFile: given["currentFile"].slice(0, 4_096) } : {}),
  ...(typeof given["selectedCode"] === "string" ? { selectedCode: given["selectedCode"].slice(0, 200_000) } : {}),
  ...(Array.isArray(given["openFiles"])
    ? { openFiles: given["openFiles"].filter((one) => typeof one === "string").slice(0, 1_000) as string[] }
    : {}),
});
