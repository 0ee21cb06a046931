import type { ApprovalItem } from "../../client/index.ts";
import { type DiffFile, filesOf } from "./diff/parse.ts";
import { commandLine, revealHidden } from "./text.ts";

const VERBS: Record<DiffFile["change"], string> = { created: "Create", deleted: "Delete", modified: "Change" };

/** The question in a few words; the card shows the whole action below it. */
export function describeQuestion(item: ApprovalItem): string {
  if (item.argv) return "Run this command?";
  if (item.since) return `Run ${revealHidden(item.tool ?? item.action)}?`;
  const files = filesOf(item.diff ?? "");
  const verbs = new Set(files.map(({ change }) => VERBS[change]));
  if (files.length === 0 || files.some(({ path }) => path === "")) return revealHidden(item.action);
  return `${verbs.size === 1 ? [...verbs][0] : "Change"} ${files.length === 1 ? "this file" : `${files.length} files`}?`;
}

/** The action on one line. */
export function describeAction(item: ApprovalItem): string {
  if (item.argv) return commandLine(item.argv);
  if (item.since) return revealHidden(item.action);
  const files = filesOf(item.diff ?? "").filter(({ path }) => path !== "");
  if (files.length === 0) return revealHidden(item.action);
  return files.map(({ change, path }) => `${VERBS[change].toLowerCase()} ${revealHidden(path)}`).join(", ");
}
