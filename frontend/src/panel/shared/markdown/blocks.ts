import type { Token } from "marked";
import { parse } from "./syntax.ts";

export interface Block {
  readonly raw: string;
  readonly token: Token;
}

const lex = (text: string): Block[] =>
  parse(text)
    .filter((token) => token.type !== "space")
    .map((token) => ({ raw: token.raw, token }));

/**
 * The blocks of a growing text. Appending can only change the last two blocks, so only those are parsed again: the cost
 * of a new word doesn't depend on the length of the text.
 */
export class GrowingText {
  #text = "";
  #blocks: Block[] = [];
  #starts: number[] = [];

  blocks(text: string): readonly Block[] {
    if (text === this.#text) return this.#blocks;
    const grown = this.#text !== "" && text.startsWith(this.#text);
    const kept = grown ? Math.max(0, this.#blocks.length - 2) : 0;
    const start = kept > 0 ? this.#starts[kept]! : 0;
    const fresh = lex(text.slice(start));
    const starts: number[] = [];
    let place = start;
    for (const block of fresh) {
      place = text.indexOf(block.raw, place);
      // The lexer may rewrite tabs and line ends; then parse the next text from its beginning.
      if (place < 0) {
        this.#text = "";
        this.#blocks = lex(text);
        return this.#blocks;
      }
      starts.push(place);
      place += block.raw.length;
    }
    this.#blocks = [...this.#blocks.slice(0, kept), ...fresh];
    this.#starts = [...this.#starts.slice(0, kept), ...starts];
    this.#text = text;
    return this.#blocks;
  }
}
