import type { DiffLine, Hunk } from "../../../wire/types.ts";

const KINDS: Record<string, DiffLine["kind"]> = { "+": "added", "-": "removed", " ": "context" };

/** One file of a unified diff. */
export interface DiffFile {
  readonly path: string;
  readonly change: "created" | "deleted" | "modified";
  readonly hunks: readonly Hunk[];
}

const HEADER = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/** Parses a unified diff. The header gives a hunk's length, since a changed line may look like a header. */
export function filesOf(diff: string): DiffFile[] {
  const files: { path: string; change: DiffFile["change"]; hunks: Hunk[] }[] = [];
  let before = "";
  let left = [0, 0];
  let count = 0;
  for (const text of diff.split("\n")) {
    const kind = KINDS[text[0] ?? ""];
    if (left[0]! > 0 || left[1]! > 0) {
      if (kind === undefined) continue;
      files
        .at(-1)
        ?.hunks.at(-1)
        ?.lines.push({ kind, text: text.slice(1) });
      left = [left[0]! - (kind === "added" ? 0 : 1), left[1]! - (kind === "removed" ? 0 : 1)];
    } else if (text.startsWith("--- ")) before = text.slice(4);
    else if (text.startsWith("+++ ")) files.push({ ...parseNames(before, text.slice(4)), hunks: [] });
    else if (text.startsWith("@@")) {
      const found = HEADER.exec(text);
      left = found ? [Number(found[1] ?? 1), Number(found[2] ?? 1)] : [0, 0];
      if (files.length === 0) files.push({ path: "", change: "modified", hunks: [] });
      files.at(-1)!.hunks.push({ id: String(count++), header: text, lines: [] });
    }
  }
  return files;
}

function parseNames(before: string, after: string): Pick<DiffFile, "path" | "change"> {
  if (after === "/dev/null") return { path: before.replace(/^a\//, ""), change: "deleted" };
  return { path: after.replace(/^b\//, ""), change: before === "/dev/null" ? "created" : "modified" };
}

export const hunksOf = (diff: string): Hunk[] => filesOf(diff).flatMap(({ hunks }) => hunks);

export interface NumberedLine extends DiffLine {
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** Numbers the lines on both sides. */
export function numbered(hunk: Hunk): NumberedLine[] {
  const found = /@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(hunk.header);
  let before = Number(found?.[1] ?? 1);
  let after = Number(found?.[2] ?? 1);
  return hunk.lines.map((line) => ({
    ...line,
    before: line.kind === "added" ? undefined : before++,
    after: line.kind === "removed" ? undefined : after++,
  }));
}

export type Pair = readonly [NumberedLine | undefined, NumberedLine | undefined];

/** Pairs removed lines with added ones. */
export function sideBySide(lines: readonly NumberedLine[]): Pair[] {
  const pairs: Pair[] = [];
  for (let place = 0; place < lines.length; ) {
    if (lines[place]!.kind === "context") {
      pairs.push([lines[place], lines[place]]);
      place += 1;
      continue;
    }
    let end = place;
    while (end < lines.length && lines[end]!.kind !== "context") end += 1;
    const removed = lines.slice(place, end).filter((line) => line.kind === "removed");
    const added = lines.slice(place, end).filter((line) => line.kind === "added");
    for (let row = 0; row < Math.max(removed.length, added.length); row += 1) pairs.push([removed[row], added[row]]);
    place = end;
  }
  return pairs;
}
