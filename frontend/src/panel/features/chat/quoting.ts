interface Parts {
  readonly words: string;
  readonly diff?: string;
  /** The files that the diff is of. */
  readonly files: readonly string[];
}

const HUNK = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/;

/** A message of some words and, after an empty line, a diff: each file's name on a line, and its hunks below. */
export function withoutDiff(text: string): Parts {
  const end = text.indexOf("\n\n");
  const lines = text.slice(end + 2).split("\n");
  if (end < 0 || !(HUNK.test(lines[0]!) || HUNK.test(lines[1] ?? ""))) return { words: text, files: [] };
  const files = lines.filter(
    (line, place) => !HUNK.test(line) && HUNK.test(lines[place + 1] ?? "") && !/^[ +-]/.test(line),
  );
  return {
    words: text.slice(0, end),
    diff: lines.join("\n"),
    files: [...new Set(files)].filter((name) => name !== ""),
  };
}
