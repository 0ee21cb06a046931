import type { Token, Tokens } from "marked";
import { Fragment, type ReactNode } from "react";
import { FileReference, referenceOf } from "./FileReference.tsx";
import { Formula } from "./Formula.tsx";
import type { FootnoteToken, MathToken } from "./syntax.ts";

/** Links with other schemes are shown as text. */
const SAFE = /^(https?:|mailto:)/i;

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const plainText = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]!);

/** Renders tokens as React elements. Raw HTML is shown as text. */
export function inline(tokens: readonly Token[] | undefined, fallback = ""): ReactNode {
  if (tokens === undefined) return fallback;
  // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no other key than their place
  return tokens.map((token, place) => <Fragment key={place}>{one(token)}</Fragment>);
}

function one(token: Token): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <del>{inline(token.tokens)}</del>;
    case "codespan":
      return codespan(plainText((token as Tokens.Codespan).text));
    case "br":
      return <br />;
    case "link":
      return link(token as Tokens.Link);
    case "image":
      return <span>[{(token as Tokens.Image).text || "image"}]</span>;
    case "escape":
      return plainText((token as Tokens.Escape).text);
    case "math": {
      const { text, display } = token as unknown as MathToken;
      return <Formula text={text} display={display} />;
    }
    case "footnote":
      return <sup>{(token as unknown as FootnoteToken).name}</sup>;
    case "text":
      return token.tokens ? inline(token.tokens) : plainText((token as Tokens.Text).text);
    default:
      return token.raw;
  }
}

function codespan(text: string): ReactNode {
  const reference = referenceOf(text);
  return reference ? <FileReference reference={reference} text={text} /> : <code>{text}</code>;
}

function link(token: Tokens.Link): ReactNode {
  const reference = referenceOf(token.href);
  if (reference) return <FileReference reference={reference} text={token.text} />;
  if (!SAFE.test(token.href)) return <span title={token.href}>{inline(token.tokens)}</span>;
  return (
    <a href={token.href} target="_blank" rel="noreferrer noopener">
      {inline(token.tokens)}
    </a>
  );
}
