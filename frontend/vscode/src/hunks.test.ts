import { expect, test } from "vitest";
import type { Hunk } from "../../src/wire/types.ts";
import { placeHunks, textBefore } from "./hunks.ts";

/** Lines as in a patch: a space, a plus or a minus, then the text. */
const hunk = (id: string, header: string, ...lines: string[]): Hunk => ({
  id,
  header,
  state: "pending",
  lines: lines.map((line) => ({
    kind: line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "context",
    text: line.slice(1),
  })),
});

const FIRST = hunk("a", "@@ -1,3 +1,3 @@", " one", "-two", "+TWO", " three");
const LAST = hunk("b", "@@ -7,2 +7,3 @@", " seven", "+new", " eight");
const AFTER = "one\nTWO\nthree\nfour\nfive\nsix\nseven\nnew\neight\n";
const BEFORE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

test("the text before is the text without the hunks", () => {
  expect(textBefore(AFTER, [FIRST, LAST])).toBe(BEFORE);
  expect(textBefore(AFTER.replaceAll("\n", "\r\n"), [FIRST, LAST])).toBe(BEFORE.replaceAll("\n", "\r\n"));
});

test("a hunk is found where your own edits have moved it", () => {
  const edited = `# mine\n# mine\n${AFTER}`;
  expect(placeHunks(edited, [FIRST, LAST]).map(({ changed }) => changed)).toEqual([3, 9]);
  expect(textBefore(edited, [FIRST, LAST])).toBe(`# mine\n# mine\n${BEFORE}`);
});

test("a hunk that you have edited away stays out", () => {
  const edited = AFTER.replace("TWO", "mine");
  expect(placeHunks(edited, [FIRST, LAST]).map(({ hunk: { id } }) => id)).toEqual(["b"]);
  expect(textBefore(edited, [FIRST, LAST])).toBe(BEFORE.replace("two", "mine"));
});

test("a created file was empty, a deleted one comes back", () => {
  expect(textBefore("a\nb\n", [hunk("c", "@@ -0,0 +1,2 @@", "+a", "+b")])).toBe("");
  expect(textBefore("", [hunk("d", "@@ -1,2 +0,0 @@", "-a", "-b")])).toBe("a\nb\n");
});
