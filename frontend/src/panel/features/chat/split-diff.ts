interface Parts {
  readonly text: string;
  readonly diff?: string;
  /** The files that the diff changes. */
  readonly files: readonly string[];
}

const HUNK = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/;

/** Splits a message into its text and a diff after an empty line: each file's name on a line, its hunks below. */
export function splitDiff(message: string): Parts {
  const end = message.indexOf("\n\n");
  const lines = message.slice(end + 2).split("\n");
  if (end < 0 || !(HUNK.test(lines[0]!) || HUNK.test(lines[1] ?? ""))) return { text: message, files: [] };
  const files = lines.filter(
    (line, place) => !HUNK.test(line) && HUNK.test(lines[place + 1] ?? "") && !/^[ +-]/.test(line),
  );
  return {
    text: message.slice(0, end),
    diff: lines.join("\n"),
    files: [...new Set(files)].filter((name) => name !== ""),
  };
}
