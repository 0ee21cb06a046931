import type { FileDiff, Hunk } from "../../src/wire/types.ts";

/** Where a hunk is in the file as it is now. */
export interface PlacedHunk {
  readonly hunk: Hunk;
  /** The first line of the hunk, from 0. */
  readonly line: number;
  /** The first line that it changed, from 0. */
  readonly changed: number;
}

/** Finds hunks in a text that may have been edited since: at their line, else at the nearest place that fits. */
export function placeHunks(text: string, hunks: readonly Hunk[]): PlacedHunk[] {
  const lines = text.split(/\r?\n/);
  return hunks.flatMap((hunk) => {
    const block = linesOf(hunk, "removed");
    const wanted = Math.max(Number(/\+(\d+)/.exec(hunk.header)?.[1] ?? 1) - 1, 0);
    const line = nearest(lines, block, wanted);
    if (line === undefined) return [];
    const context = hunk.lines.findIndex(({ kind }) => kind !== "context");
    return [{ hunk, line, changed: Math.min(line + Math.max(context, 0), Math.max(lines.length - 1, 0)) }];
  });
}

/** The text before the hunks: each one that is found is undone. */
export function textBefore(text: string, hunks: readonly Hunk[]): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text.split(/\r?\n/);
  for (const { hunk, line } of placeHunks(text, hunks).sort((one, other) => other.line - one.line)) {
    lines.splice(line, linesOf(hunk, "removed").length, ...linesOf(hunk, "added"));
  }
  return lines.join(newline);
}

export const pendingHunks = (file: FileDiff): Hunk[] => file.hunks.filter(({ state }) => state === "pending");

/** A hunk's lines without those of one kind. Notes such as “No newline at end of file” are no lines. */
const linesOf = (hunk: Hunk, without: "added" | "removed"): string[] =>
  hunk.lines
    .filter(({ kind, text }) => kind !== without && !text.startsWith("\\ "))
    .map(({ text }) => text.replace(/\r$/, ""));

function nearest(lines: readonly string[], block: readonly string[], wanted: number): number | undefined {
  const fits = (at: number) => at >= 0 && block.every((line, index) => lines[at + index] === line);
  for (let distance = 0; distance <= lines.length; distance += 1) {
    if (fits(wanted - distance)) return wanted - distance;
    if (fits(wanted + distance)) return wanted + distance;
  }
  return undefined;
}
