import { describe, expect, it } from "vitest";
import { referenceOf } from "../shared/markdown/FileReference.tsx";
import { closeOpenSyntax, parse } from "../shared/markdown/syntax.ts";

const types = (text: string) =>
  parse(text).flatMap((token) =>
    "tokens" in token && token.tokens ? token.tokens.map(({ type }) => type) : token.type,
  );

describe("markdown", () => {
  it("knows formulas and footnotes, and prices are no formulas", () => {
    expect(types("so $a^2$ it is")).toEqual(["text", "math", "text"]);
    expect(types("so \\(a^2\\)")).toContain("math");
    expect(types("$$\na^2\n$$")).toEqual(["math"]);
    expect(types("It costs $5 and $6.")).toEqual(["text"]);
    expect(types("`$a$` and $HOME or $PATH")).not.toContain("math");
    expect(types("a claim[^1]")).toEqual(["text", "footnote"]);
    expect(parse("[^1]: the proof").map(({ type }) => type)).toEqual(["footnoteText"]);
  });

  it("hides half a link and closes emphasis while a text grows", () => {
    const grown = (text: string) => closeOpenSyntax(text);
    expect(grown("see [the docs](https://exam")).toBe("see the docs");
    expect(grown("see [the do")).toBe("see the do");
    expect(grown("see [the docs](https://example.org)")).toBe("see [the docs](https://example.org)");
    expect(grown("a **bold wor")).toBe("a **bold wor**");
    expect(grown("a `co")).toBe("a `co`");
    expect(grown("values[0]")).toBe("values[0]");
    expect(grown("```\n[half](")).toBe("```\n[half](");
  });

  it("recognizes files by their names, with or without a line", () => {
    expect(referenceOf("src/app.ts:12")).toEqual({ path: "src/app.ts", line: 12 });
    expect(referenceOf("calc.py")).toEqual({ path: "calc.py", line: undefined });
    expect(referenceOf("docs/a.md#L7")).toEqual({ path: "docs/a.md", line: 7 });
    for (const text of ["os.path", "../../etc/passwd.txt", "a b.py", "https://x.org/a.py", "/etc/hosts.txt", "add()"])
      expect(referenceOf(text)).toBeUndefined();
  });
});
