import type { JsonValue, ShellFrame, SidecarFrame } from "../wire/types.ts";

export const SUBPROTOCOL = "rainy.bridge.v1";
export const FRAME_LIMIT = 16 * 1024 * 1024;

export type Parsed = { frame: SidecarFrame } | { code: string; message: string };

export function parse(text: unknown): Parsed {
  let value: unknown;
  try {
    value = typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    value = undefined;
  }
  if (value === undefined) return { code: "malformed_json", message: "The frame is not JSON." };
  return isSidecarFrame(value)
    ? { frame: value }
    : { code: "bad_frame", message: "The frame has an unknown type or shape." };
}

/** The frame as text; undefined if it is too large. */
export function encode(frame: ShellFrame): string | undefined {
  const text = JSON.stringify(frame);
  // A character takes at most three bytes, so only texts near the limit need counting.
  if (text.length * 3 <= FRAME_LIMIT || new TextEncoder().encode(text).length <= FRAME_LIMIT) return text;
  return undefined;
}

function isSidecarFrame(value: unknown): value is SidecarFrame {
  if (!isObject(value)) return false;
  switch (value["type"]) {
    case "welcome":
      return isText(value["session"]) && Array.isArray(value["open"]) && value["open"].every(isCall);
    case "tool_call":
      return isCall(value);
    case "cancel":
      return isText(value["id"]);
    case "error":
      return isObject(value["error"]);
    default:
      return false;
  }
}

function isCall(value: unknown): boolean {
  return isObject(value) && isText(value["id"]) && isText(value["tool"]) && isObject(value["args"]);
}

function isObject(value: unknown): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
