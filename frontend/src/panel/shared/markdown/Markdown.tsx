import type { Token, Tokens } from "marked";
import { memo, type ReactNode, useRef } from "react";
import { type Block, GrowingText } from "./blocks.ts";
import { Code } from "./Code.tsx";
import { Diagram } from "./Diagram.tsx";
import { Formula } from "./Formula.tsx";
import { inline } from "./inline.tsx";
import styles from "./Markdown.module.css";
import { closeOpenSyntax, type FootnoteToken, type MathToken, parse } from "./syntax.ts";

/** Markdown that may still be growing. Finished blocks render once. */
export const Markdown = memo(function Markdown({ text, growing = false }: { text: string; growing?: boolean }) {
  const growingText = useRef<GrowingText>(null);
  growingText.current ??= new GrowingText();
  const blocks = growingText.current.blocks(text);
  return (
    <div className={styles.markdown} data-growing={growing || undefined}>
      {blocks.map((block, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks keep their place; only the last ones change
        <BlockView key={place} block={block} growing={growing && place === blocks.length - 1} />
      ))}
    </div>
  );
});

const BlockView = memo(
  ({ block, growing }: { block: Block; growing: boolean }) => blockOf(growing ? closed(block) : block.token, growing),
  (before, after) => before.block.raw === after.block.raw && before.growing === after.growing,
);

/** The block that is being written, as if it ended here. */
function closed({ raw, token }: Block): Token {
  if (token.type === "code") return token;
  const text = closeOpenSyntax(raw);
  return text === raw ? token : (parse(text)[0] ?? token);
}

function blockOf(token: Token, growing: boolean): ReactNode {
  switch (token.type) {
    case "heading": {
      const Heading = `h${Math.min(6, (token as Tokens.Heading).depth + 2)}` as "h3";
      return <Heading dir="auto">{inline(token.tokens)}</Heading>;
    }
    case "paragraph":
      return <p dir="auto">{inline(token.tokens)}</p>;
    case "code": {
      const { text, lang } = token as Tokens.Code;
      const code = <Code text={text} language={lang ?? ""} growing={growing} />;
      return lang === "mermaid" && !growing ? <Diagram text={text} fallback={code} /> : code;
    }
    case "math": {
      const { text, display } = token as unknown as MathToken;
      return <Formula text={text} display={display} />;
    }
    case "footnoteText": {
      const { name, tokens } = token as unknown as FootnoteToken;
      return (
        <p className={styles.footnote} dir="auto">
          <sup>{name}</sup> {inline(tokens)}
        </p>
      );
    }
    case "list":
      return list(token as Tokens.List, growing);
    case "blockquote":
      return <blockquote dir="auto">{children(token.tokens, growing)}</blockquote>;
    case "table":
      return table(token as Tokens.Table);
    case "hr":
      return <hr />;
    case "text":
      return token.tokens ? inline(token.tokens) : token.raw;
    case "space":
    case "def":
      return null;
    default:
      // Includes raw HTML, which is shown as text.
      return <p className={styles.raw}>{token.raw.trimEnd()}</p>;
  }
}

const children = (tokens: readonly Token[] | undefined, growing: boolean): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: see above
  tokens?.map((token, place) => <BlockView key={place} block={{ raw: token.raw, token }} growing={growing} />);

function list(token: Tokens.List, growing: boolean): ReactNode {
  const items = token.items.map((item, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <li key={place} dir="auto" className={item.task ? styles.task : undefined}>
      {item.task && <input type="checkbox" checked={item.checked ?? false} readOnly disabled aria-label="Done" />}
      {children(
        item.tokens.filter((part) => part.type !== "checkbox"),
        growing,
      )}
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function table(token: Tokens.Table): ReactNode {
  return (
    <div className={styles.table} tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: see above
              <th key={place} dir="auto" align={cell.align ?? undefined}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <tr key={place}>
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: see above
                <td key={column} dir="auto" align={cell.align ?? undefined}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
