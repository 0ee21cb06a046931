import type { DiffLine, Hunk } from "../../../wire/types.ts";

const MARKS: Record<string, DiffLine["kind"]> = { "+": "added", "-": "removed", " ": "context" };

/** The hunks of a unified diff, for one that came as text. */
export function hunksOf(diff: string): Hunk[] {
  const hunks: Hunk[] = [];
  for (const text of diff.split("\n")) {
    if (text.startsWith("@@")) {
      hunks.push({ id: String(hunks.length), header: text, lines: [] });
      continue;
    }
    const kind = MARKS[text[0] ?? ""];
    if (kind !== undefined) hunks.at(-1)?.lines.push({ kind, text: text.slice(1) });
  }
  return hunks;
}

export interface NumberedLine extends DiffLine {
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** The lines with the numbers that they have on each side. */
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

/** The same lines, what was beside what is. */
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
