import { memo } from "react";
import type { Hunk } from "../../../wire/types.ts";
import { useHighlighted } from "../markdown/Code.tsx";
import type { Line } from "../markdown/highlight.ts";
import { revealHidden } from "../text.ts";
import styles from "./HunkLines.module.css";
import { type NumberedLine, numbered, sideBySide } from "./parse.ts";

const SIGNS = { added: "+", removed: "−", context: " " } as const;

interface Props {
  readonly hunk: Hunk;
  /** A file name or language, for highlighting. */
  readonly language?: string;
  readonly split?: boolean;
}

/** A hunk's lines with their numbers, in one column or side by side. */
export const HunkLines = memo(function HunkLines({ hunk, language = "", split = false }: Props) {
  const lines = numbered(hunk);
  const name = language.includes(".") ? (language.split(".").at(-1) ?? "") : language;
  const coloured = useHighlighted(hunk.lines.map((line) => line.text).join("\n"), name, false);
  const content = (line: NumberedLine) => pieces(coloured?.[lines.indexOf(line)], line.text);
  return (
    <div
      className={styles.diff}
      data-split={split || undefined}
      tabIndex={0}
      role="group"
      aria-label={`Lines ${hunk.header}`}
    >
      <table>
        <tbody>
          {split
            ? sideBySide(lines).map(([before, after], place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key than their place
                <tr key={place}>
                  <Half line={before} number={before?.before} content={content} />
                  <Half line={after} number={after?.after} content={content} />
                </tr>
              ))
            : lines.map((line, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: see above
                <tr key={place} className={styles[line.kind]}>
                  <td className={styles.number}>{line.before}</td>
                  <td className={styles.number}>{line.after}</td>
                  <td className={styles.sign}>{SIGNS[line.kind]}</td>
                  <td className={styles.text}>{content(line)}</td>
                </tr>
              ))}
        </tbody>
      </table>
    </div>
  );
});

interface HalfProps {
  readonly line: NumberedLine | undefined;
  readonly number: number | undefined;
  readonly content: (line: NumberedLine) => React.ReactNode;
}

const Half = ({ line, number, content }: HalfProps) => (
  <>
    <td className={`${styles.number} ${styles[line?.kind ?? "none"]}`}>{number}</td>
    <td className={`${styles.text} ${styles[line?.kind ?? "none"]}`}>{line && content(line)}</td>
  </>
);

const pieces = (coloured: Line | undefined, text: string) =>
  coloured
    ? coloured.map((piece, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <span key={place} data-token={piece.kind}>
          {revealHidden(piece.text)}
        </span>
      ))
    : revealHidden(text);
