import { lexer, type Token } from "marked";

export interface Block {
  readonly raw: string;
  readonly token: Token;
}

const lex = (text: string): Block[] =>
  lexer(text, { gfm: true })
    .filter((token) => token.type !== "space")
    .map((token) => ({ raw: token.raw, token }));

/**
 * The blocks of a text that grows at its end. What stands before the last two blocks cannot change any more, so it is
 * not read again: the cost of a new word does not depend on how much was written before it.
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
      // Tabs and line ends may have been rewritten; then the next text is read from its beginning.
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
