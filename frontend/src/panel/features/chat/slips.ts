/** Shorter names are near too many words: only their own letters, swapped, make a slip. */
const SHORT = 5;
const LONG = 7;

/** The name that was probably meant. The sidecar knows its own words; this is for those that only the panel has. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const word = typed.toLowerCase();
  return names.find((name) => {
    if (letters(word) === letters(name)) return true;
    if (name.length < SHORT || word[0] !== name[0] || word === `${name}s`) return false;
    return distance(word, name) <= (name.length < LONG ? 1 : 2);
  });
}

const letters = (word: string): string => [...word].sort().join("");

/** How many letters must be put in, left out, replaced or swapped with their neighbour to make one of the other. */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let row = 1; row <= one.length; row += 1) {
    const now = [row];
    for (let place = 1; place <= other.length; place += 1) {
      const same = one[row - 1] === other[place - 1] ? 0 : 1;
      let least = Math.min(last[place]! + 1, now[place - 1]! + 1, last[place - 1]! + same);
      const swapped = row > 1 && place > 1 && one[row - 1] === other[place - 2] && one[row - 2] === other[place - 1];
      if (swapped) least = Math.min(least, before[place - 2]! + 1);
      now.push(least);
    }
    before = last;
    last = now;
  }
  return last[other.length]!;
}
