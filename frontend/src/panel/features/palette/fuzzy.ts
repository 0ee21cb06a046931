/** An entry that you find by typing parts of its name. */
export interface Entry {
  readonly id: string;
  readonly title: string;
  readonly group: string;
  readonly hint?: string | undefined;
  readonly keys?: string | undefined;
  readonly run: () => void;
}

interface Prepared {
  readonly entry: Entry;
  readonly text: string;
  /** One bit per letter, to rule most entries out without scoring them. */
  readonly letters: number;
}

const bit = (code: number): number =>
  code >= 97 && code <= 122 ? 1 << (code - 97) : code >= 48 && code <= 57 ? 1 << (26 + (code & 3)) : 0;

function lettersOf(text: string): number {
  let letters = 0;
  for (let place = 0; place < text.length; place += 1) letters |= bit(text.charCodeAt(place));
  return letters;
}

const isBoundary = (code: number): boolean =>
  code === 32 || code === 47 || code === 45 || code === 95 || code === 46 || code === 58;

/** Scores how well the text matches the query; 0 if it lacks a letter, in order. */
function score(text: string, query: string): number {
  const whole = text.indexOf(query);
  if (whole >= 0)
    return 1_000 - Math.min(200, text.length) + (whole === 0 ? 700 : isBoundary(text.charCodeAt(whole - 1)) ? 500 : 0);
  let points = 0;
  let from = 0;
  let before = -2;
  for (let place = 0; place < query.length; place += 1) {
    const found = text.indexOf(query[place]!, from);
    if (found < 0) return 0;
    if (found === before + 1) points += 8;
    if (found === 0 || isBoundary(text.charCodeAt(found - 1))) points += 10;
    points -= Math.min(5, found - from);
    before = found;
    from = found + 1;
  }
  return Math.max(1, points + 100 - Math.min(80, text.length));
}

/** Prepares the entries once and searches them at every key press. */
export class Finder {
  readonly #prepared: readonly Prepared[];

  constructor(
    entries: readonly Entry[],
    private readonly recent: readonly string[] = [],
  ) {
    this.#prepared = entries.map((entry) => {
      const text = `${entry.title} ${entry.group}`.toLowerCase();
      return { entry, text, letters: lettersOf(text) };
    });
  }

  find(typed: string, limit: number): Entry[] {
    const query = typed.trim().toLowerCase();
    const rank = (entry: Entry) => {
      const place = this.recent.indexOf(entry.id);
      return place < 0 ? 0 : 60 - place;
    };
    if (query === "") {
      const recent = this.#prepared.filter(({ entry }) => this.recent.includes(entry.id)).map(({ entry }) => entry);
      recent.sort((one, other) => rank(other) - rank(one));
      const others = this.#prepared.filter(({ entry }) => !this.recent.includes(entry.id)).slice(0, limit);
      return [...recent, ...others.map(({ entry }) => entry)].slice(0, limit);
    }
    const words = query.split(/\s+/);
    const wanted = lettersOf(query);
    const found: { entry: Entry; points: number }[] = [];
    for (const { entry, text, letters } of this.#prepared) {
      if ((letters & wanted) !== wanted) continue;
      let points = rank(entry);
      let all = true;
      for (const word of words) {
        const one = score(text, word);
        if (one === 0) {
          all = false;
          break;
        }
        points += one;
      }
      if (all) found.push({ entry, points });
    }
    return found
      .sort((one, other) => other.points - one.points)
      .slice(0, limit)
      .map(({ entry }) => entry);
  }
}
