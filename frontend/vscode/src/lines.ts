const MOST_LINES = 2_000;
const MOST_CHARACTERS = 2_000;

export interface NumberedLines {
  readonly text: string;
  readonly first: number;
  readonly last: number;
  readonly total: number;
}

/** Lines as the sidecar's `read_file` shows them; undefined if there is no such line. */
export function numberedLines(content: string, start = 1, end = Number.MAX_SAFE_INTEGER): NumberedLines | undefined {
  const lines = content.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const total = lines.length;
  if (start < 1 || start > Math.max(total, 1) || end < start) return undefined;
  const last = Math.min(end, total, start + MOST_LINES - 1);
  const chosen = lines.slice(start - 1, last);
  const width = String(start + chosen.length).length;
  const shown = chosen.map(
    (line, index) => `${String(start + index).padStart(width)} ${line.slice(0, MOST_CHARACTERS)}`,
  );
  if (last < Math.min(end, total)) shown.push(`… ${total - last} more lines; continue with startLine ${last + 1}`);
  return { text: shown.join("\n"), first: start, last, total };
}
