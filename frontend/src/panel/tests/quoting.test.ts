import { describe, expect, it } from "vitest";
import { unprovenBecause } from "../app/Ending.tsx";
import { withoutDiff } from "../features/chat/quoting.ts";

describe("what is said for the person", () => {
  it("is words, with the diff beside them; a text without one stays as it is", () => {
    const diff = "src/a.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n\nb.py\n@@ -3 +3 @@\n-a\n+b";
    expect(withoutDiff(`I rejected these changes:\n\n${diff}`)).toEqual({
      words: "I rejected these changes:",
      diff,
      files: ["src/a.py", "b.py"],
    });
    for (const text of ["do it", "do it\n\nand then that", "why @@ -1 +1 @@ ?\n\nI wonder\nwhy"])
      expect(withoutDiff(text)).toEqual({ words: text, files: [] });
  });
});

describe("how a task ended", () => {
  it("is not taken for proven where nothing was run, and says why", () => {
    expect(unprovenBecause({ passed: null, notes: ["The tests were not run."] })).toEqual(["The tests were not run."]);
    expect(unprovenBecause({ passed: null, checks: [] })).toHaveLength(1);
    for (const proven of [{ passed: true }, { passed: false }, null, undefined])
      expect(unprovenBecause(proven)).toBeUndefined();
  });
});
