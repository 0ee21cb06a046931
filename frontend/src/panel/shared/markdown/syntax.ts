import { Lexer, Marked, type Token, type TokenizerExtension } from "marked";

/** A formula between `$…$`, `$$…$$`, `\(…\)` or `\[…\]`. */
export interface MathToken {
  readonly type: "math";
  readonly raw: string;
  readonly text: string;
  readonly display: boolean;
}

/** `[^name]` in a text, or `[^name]: text` below it. */
export interface FootnoteToken {
  readonly type: "footnote" | "footnoteText";
  readonly raw: string;
  readonly name: string;
  readonly tokens?: Token[];
}

const BLOCK_MATH = /^(?:\$\$\n?([\s\S]+?)\n?\$\$|\\\[\n?([\s\S]+?)\n?\\\])[ \t]*(?:\n|$)/;
// A dollar sign before a digit or a space is a price, as in “$5 and $6”.
const INLINE_MATH = /^(?:\$\$([^$\n]+?)\$\$|\$(?![\s\d])((?:\\.|[^$\\\n])+?)(?<!\s)\$(?![\w$])|\\\(([^\n]+?)\\\))/;
const FOOTNOTE_TEXT = /^\[\^([^\]\s]{1,40})\]:[ \t]+([^\n]+(?:\n(?: {2,}|\t)[^\n]+)*)(?:\n|$)/;

const extensions: TokenizerExtension[] = [
  {
    name: "math",
    level: "block",
    start: (text) => text.match(/^(?:\$\$|\\\[)/m)?.index,
    tokenizer(text) {
      const found = BLOCK_MATH.exec(text);
      return found ? { type: "math", raw: found[0], text: (found[1] ?? found[2])!, display: true } : undefined;
    },
  },
  {
    name: "math",
    level: "inline",
    start: (text) => text.match(/\$|\\\(/)?.index,
    tokenizer(text) {
      const found = INLINE_MATH.exec(text);
      if (!found) return undefined;
      return {
        type: "math",
        raw: found[0],
        text: (found[1] ?? found[2] ?? found[3])!,
        display: found[1] !== undefined,
      };
    },
  },
  {
    name: "footnoteText",
    level: "block",
    start: (text) => text.match(/^\[\^/m)?.index,
    tokenizer(text) {
      const found = FOOTNOTE_TEXT.exec(text);
      if (!found) return undefined;
      const tokens = this.lexer.inlineTokens(found[2]!.replace(/\n\s+/g, " "));
      return { type: "footnoteText", raw: found[0], name: found[1]!, tokens };
    },
  },
  {
    name: "footnote",
    level: "inline",
    start: (text) => text.indexOf("[^"),
    tokenizer(text) {
      const found = /^\[\^([^\]\s]{1,40})\]/.exec(text);
      return found ? { type: "footnote", raw: found[0], name: found[1]! } : undefined;
    },
  },
];

const { defaults } = new Marked({ gfm: true, extensions });

export const parse = (text: string): Token[] => new Lexer(defaults).lex(text);

/**
 * The end of a text that is still being written, without half a link, and with its emphasis and code closed: otherwise
 * the signs would show for a moment.
 */
export function closeOpenSyntax(raw: string): string {
  if (/^\s*(```|~~~)/.test(raw)) return raw;
  let text = raw.replace(/(?<![\w)\]])!?\[([^\]\n]*)(?:\](?:\([^)\n]*)?)?$/, (_, label: string) => label);
  if ((text.match(/`/g)?.length ?? 0) % 2 === 1) return `${text}\``;
  text = text.replace(/(^|[\s([])(\*{1,3}|_{1,2}|~{1,2})$/, "$1");
  const line = text.slice(text.lastIndexOf("\n\n") + 1).replace(/`[^`]*`/g, "");
  for (const sign of ["**", "~~"]) if (line.split(sign).length % 2 === 0) text = text.replace(/[*~]$/, "") + sign;
  return text;
}
