import { describe, expect, it } from "vitest";
import { themeVariables } from "../features/host/protocol.ts";
import { Finder } from "../features/palette/fuzzy.ts";
import { filesOf, hunksOf, numbered, sideBySide } from "../shared/diff/parse.ts";
import { clock, duration } from "../shared/format.ts";
import { GrowingText } from "../shared/markdown/blocks.ts";
import { commandLine, revealHidden, stripAnsi } from "../shared/text.ts";

describe("invisible characters", () => {
  it("are written out in commands", () => {
    expect(commandLine(["echo", "a b", "it's", "\u202eevil"])).toBe("echo 'a b' 'it'\\''s' '\\u{202e}evil'");
    expect(revealHidden("a\u200bb\u0007")).toBe("a\\u{200b}b\\u{7}");
  });

  it("of a terminal's colours are removed", () => {
    expect(stripAnsi("\u001b[31mred\u001b[0m\n10%\r50%\r100%\ndone\r\n")).toBe("red\n100%\ndone\n");
  });
});

describe("markdown that grows", () => {
  const text =
    "# A\n\nOne *two*\nthree.\n\n- a\n- b\n  - c\n\n```py\nx = 1\n\ny = 2\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nEnd <b>x</b>.";

  it("has the same blocks at each length as when parsed at once", () => {
    const growing = new GrowingText();
    for (let length = 1; length <= text.length; length += 1) {
      const part = text.slice(0, length);
      expect(growing.blocks(part).map((block) => block.raw)).toEqual(
        new GrowingText().blocks(part).map((block) => block.raw),
      );
    }
  });
});

describe("the finder", () => {
  const entry = (title: string) => ({ id: title, title, group: "Files", run: () => {} });
  const finder = new Finder(["src/app/Header.tsx", "Theme: dark", "Ask the coder", "Cancel the task"].map(entry), [
    "Ask the coder",
  ]);
  const titles = (typed: string) => finder.find(typed, 10).map((found) => found.title);

  it("matches prefixes, parts and letters in order", () => {
    expect(titles("them")[0]).toBe("Theme: dark");
    expect(titles("canc task")).toEqual(["Cancel the task"]);
    expect(titles("hdrtsx")).toEqual(["src/app/Header.tsx"]);
    expect(titles("qqq")).toEqual([]);
  });

  it("lists recent entries first", () => {
    expect(titles("")[0]).toBe("Ask the coder");
  });
});

describe("a diff", () => {
  const [hunk] = hunksOf("--- a\n+++ b\n@@ -3,3 +3,3 @@ def f\n one\n-two\n+TWO\n+more\n three");

  it("has numbered lines on both sides", () => {
    expect(numbered(hunk!).map(({ before, after }) => [before, after])).toEqual([
      [3, 3],
      [4, undefined],
      [undefined, 4],
      [undefined, 5],
      [5, 6],
    ]);
    expect(sideBySide(numbered(hunk!)).map(([left, right]) => [left?.text, right?.text])).toEqual([
      ["one", "one"],
      ["two", "TWO"],
      [undefined, "more"],
      ["three", "three"],
    ]);
  });
});

describe("a host", () => {
  it("may set the panel's colours, and nothing else", () => {
    const given = {
      "--bg": "#fff",
      "--accent": "rgb(1 2 3)",
      "--evil": "x",
      "--line": "url(https://evil)",
      "--text": "red;}",
      background: "red",
    };
    expect(themeVariables(given)).toEqual([
      ["--bg", "#fff"],
      ["--accent", "rgb(1 2 3)"],
    ]);
  });
});

describe("times", () => {
  it("are formatted for people", () => {
    expect([0.2, 12, 1_234, 42_000, 125_000, 7_260_000].map(duration)).toEqual([
      "<1 ms",
      "12 ms",
      "1.2 s",
      "42 s",
      "2 min 5 s",
      "2 h 1 min",
    ]);
    expect([0, 65_000, 3_725_000].map(clock)).toEqual(["0:00", "1:05", "1:02:05"]);
  });
});

it("separates the files of a diff, also if a line looks like a file header", () => {
  const sql = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1 @@\n keep\n--- a comment\n";
  const made = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+one\n+++two\n";
  const gone = "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye";
  const files = filesOf(sql + made + gone);
  expect(files.map(({ path, change }) => [path, change])).toEqual([
    ["x.sql", "modified"],
    ["new.txt", "created"],
    ["old.txt", "deleted"],
  ]);
  expect(files[0]!.hunks[0]!.lines.at(-1)).toEqual({ kind: "removed", text: "-- a comment" });
  expect(files[1]!.hunks[0]!.lines.at(-1)).toEqual({ kind: "added", text: "++two" });
});
