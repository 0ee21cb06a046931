import { memo } from "react";
import type { Hunk } from "../../../wire/types.ts";
import { useHighlighted } from "../markdown/Code.tsx";
import type { Line } from "../markdown/highlight.ts";
import { visible } from "../visible.ts";
import { type NumberedLine, numbered, sideBySide } from "./parse.ts";

const SIGNS = { added: "+", removed: "−", context: " " } as const;

interface Props {
  readonly hunk: Hunk;
  /** A file name or a language, for the colours. */
  readonly language?: string;
  readonly split?: boolean;
}

/** A hunk's lines with their numbers, one column or two. */
export const HunkLines = memo(function HunkLines({ hunk, language = "", split = false }: Props) {
  const lines = numbered(hunk);
  const name = language.includes(".") ? (language.split(".").at(-1) ?? "") : language;
  const coloured = useHighlighted(hunk.lines.map((line) => line.text).join("\n"), name, false);
  const content = (line: NumberedLine) => pieces(coloured?.[lines.indexOf(line)], line.text);
  return (
    <div className={`diff ${split ? "diff-split" : ""}`} tabIndex={0} role="group" aria-label={`Lines ${hunk.header}`}>
      <table>
        <tbody>
          {split
            ? sideBySide(lines).map(([before, after], place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name than their place
                <tr key={place}>
                  <Half line={before} number={before?.before} content={content} />
                  <Half line={after} number={after?.after} content={content} />
                </tr>
              ))
            : lines.map((line, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: see above
                <tr key={place} className={`diff-${line.kind}`}>
                  <td className="diff-number">{line.before}</td>
                  <td className="diff-number">{line.after}</td>
                  <td className="diff-sign">{SIGNS[line.kind]}</td>
                  <td className="diff-text">{content(line)}</td>
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
    <td className={`diff-number ${line ? `diff-${line.kind}` : "diff-none"}`}>{number}</td>
    <td className={`diff-text ${line ? `diff-${line.kind}` : "diff-none"}`}>{line && content(line)}</td>
  </>
);

const pieces = (coloured: Line | undefined, text: string) =>
  coloured
    ? coloured.map((piece, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <span key={place} className={piece.kind}>
          {visible(piece.text)}
        </span>
      ))
    : visible(text);
