/** Shorter names resemble too many words: only their own letters, swapped, count as a typo. */
const SHORT = 5;
const LONG = 7;

/** The command that a mistyped word probably means. For commands that only the panel has; the sidecar knows its own. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const word = typed.toLowerCase();
  return names.find((name) => {
    if (letters(word) === letters(name)) return true;
    if (name.length < SHORT || word[0] !== name[0] || word === `${name}s`) return false;
    return distance(word, name) <= (name.length < LONG ? 1 : 2);
  });
}

const letters = (word: string): string => [...word].sort().join("");

/** Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours. */
function distance(one: string, other: string): number {
  let previous: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const cost = one[row - 1] === other[column - 1] ? 0 : 1;
      let least = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + cost);
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped) least = Math.min(least, previous[column - 2]! + 1);
      current.push(least);
    }
    previous = last;
    last = current;
  }
  return last[other.length]!;
}
