import type { HostContext, Offer } from "../../stores/host.ts";
import type { Theme } from "../../stores/preferences.ts";

/** The messages that the embedding window may send. None of them starts a task, answers an approval or reads a token. */
export type HostMessage =
  | { readonly type: "rainy.hello"; readonly offers?: readonly Offer[] }
  | { readonly type: "rainy.theme"; readonly theme?: Theme; readonly variables?: Readonly<Record<string, string>> }
  | { readonly type: "rainy.context"; readonly context: HostContext }
  | { readonly type: "rainy.compose"; readonly text: string; readonly append?: boolean }
  | { readonly type: "rainy.openTask"; readonly taskId: string }
  | { readonly type: "rainy.commands"; readonly commands: readonly { readonly id: string; readonly title: string }[] };

// The panel sends `rainy.ready`, `rainy.insert`, `rainy.openFile`, `rainy.command` and `rainy.status`.

const VARIABLE = /^--(bg|surface|raised|text|muted|faint|line|accent|accent-text|good|warn|bad|font|mono)$/;
const VALUE = /^[\w\s#%.,()'"-]{1,200}$/;

/** The panel's own variables with plain values; nothing that could load a resource. */
export const themeVariables = (given: Readonly<Record<string, unknown>>): [string, string][] =>
  Object.entries(given).filter(
    (entry): entry is [string, string] =>
      VARIABLE.test(entry[0]) && typeof entry[1] === "string" && VALUE.test(entry[1]) && !/url/i.test(entry[1]),
  );

export function isHostMessage(data: unknown): data is HostMessage {
  if (typeof data !== "object" || data === null || !("type" in data)) return false;
  const message = data as Record<string, unknown>;
  switch (message["type"]) {
    case "rainy.hello":
    case "rainy.theme":
      return true;
    case "rainy.context":
      return typeof message["context"] === "object" && message["context"] !== null;
    case "rainy.compose":
      return typeof message["text"] === "string";
    case "rainy.openTask":
      return typeof message["taskId"] === "string" && /^[\w-]+$/.test(message["taskId"]);
    case "rainy.commands":
      return Array.isArray(message["commands"]);
    default:
      return false;
  }
}
