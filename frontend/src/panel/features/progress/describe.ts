import type { ToolItem } from "../../../client/index.ts";
import type { JsonValue } from "../../../wire/types.ts";
import { commandLine, revealHidden } from "../../shared/text.ts";
import { record, recordedDiff } from "../../shared/tool-details.ts";

const text = (value: JsonValue | undefined): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);

/** The subject of a call on one line: its command, file or query. */
export function subject({ tool, args }: Pick<ToolItem, "tool" | "args">): string {
  const { path, paths, command, query, pattern, target, from, to, message, ref } = args;
  const where = path && path !== "." ? ` in ${text(path)}` : "";
  if (command !== undefined)
    return revealHidden(Array.isArray(command) ? commandLine(command.map(text)) : text(command));
  if (query !== undefined) return `“${revealHidden(text(query))}”${where}`;
  if (pattern !== undefined) return `${revealHidden(text(pattern))}${where}`;
  if (from !== undefined && to !== undefined) return `${text(from)} → ${text(to)}`;
  if (Array.isArray(paths)) return paths.length > 3 ? `${paths.length} files` : paths.map(text).join(", ");
  if (path !== undefined) return `${revealHidden(text(path))}${lines(args)}`;
  if (message !== undefined) return `“${revealHidden(text(message))}”`;
  if (tool === "run_tests") return target === undefined ? "all tests" : revealHidden(named(target));
  return revealHidden(text(target ?? ref ?? args["commandId"]));
}

const named = (value: JsonValue): string => (Array.isArray(value) ? value.map(text).join(", ") : text(value));

function lines({ startLine, endLine }: ToolItem["args"]): string {
  if (startLine === undefined && endLine === undefined) return "";
  return `:${text(startLine ?? 1)}${endLine === undefined ? "" : `–${text(endLine)}`}`;
}

/** The details that the card doesn't show otherwise. */
export function rest(details: JsonValue | undefined): [string, string][] {
  const shown = new Set(["output", "content", "stdout", "diff", "durationMs"]);
  if (recordedDiff(details) !== undefined) shown.add("files");
  return Object.entries(record(details))
    .filter(([key, value]) => !shown.has(key) && value !== null && value !== "" && !isEmpty(value))
    .map(([key, value]) => [key, typeof value === "object" ? JSON.stringify(value, null, 1) : String(value)]);
}

const isEmpty = (value: JsonValue): boolean => Array.isArray(value) && value.length === 0;

const LABELS: Partial<Record<ToolItem["status"], string>> = {
  pending: "waiting",
  cancelled: "cancelled",
  unknown: "unknown: it may have taken effect",
};

/** How a call ended, in a few words. An error has a line of its own. */
export function describeOutcome(item: ToolItem): string {
  if (item.status === "running" || (item.status === "error" && item.error)) return "";
  return LABELS[item.status] ?? revealHidden(item.summary);
}
