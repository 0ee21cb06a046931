import type { Thread } from "../../../client/index.ts";
import type { FileDiff, Hunk, JsonValue } from "../../../wire/types.ts";
import { hunksOf } from "../../shared/diff/parse.ts";

const record = (value: JsonValue | undefined): { [key: string]: JsonValue } =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};

/** The changed files with the diffs of the calls, while the sidecar's own diff is not available. */
export function filesFromCalls(thread: Thread): FileDiff[] {
  const hunks = new Map<string, Hunk[]>();
  for (const item of thread.items) {
    if (item.kind !== "tool" || item.status !== "success") continue;
    const { files } = record(item.details);
    for (const file of Array.isArray(files) ? files : []) {
      const { path, diff } = record(file);
      if (typeof path !== "string" || typeof diff !== "string") continue;
      const more = hunksOf(diff).map((hunk) => ({ ...hunk, id: `${item.key}-${hunk.id}` }));
      hunks.set(path, [...(hunks.get(path) ?? []), ...more]);
    }
  }
  return [...thread.changes.values()].map((file) => ({ ...file, diff: "", hunks: hunks.get(file.path) ?? [] }));
}
