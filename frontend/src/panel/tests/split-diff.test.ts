import { describe, expect, it } from "vitest";
import { unverifiedReasons } from "../app/Ending.tsx";
import { splitDiff } from "../features/chat/split-diff.ts";

describe("a message with a diff", () => {
  it("is split into its text and the diff; other messages stay as they are", () => {
    const diff = "src/a.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n\nb.py\n@@ -3 +3 @@\n-a\n+b";
    expect(splitDiff(`I rejected these changes:\n\n${diff}`)).toEqual({
      text: "I rejected these changes:",
      diff,
      files: ["src/a.py", "b.py"],
    });
    for (const text of ["do it", "do it\n\nand then that", "why @@ -1 +1 @@ ?\n\nI wonder\nwhy"])
      expect(splitDiff(text)).toEqual({ text, files: [] });
  });
});

describe("a completed task", () => {
  it("is not verified if no check ran, and says why", () => {
    expect(unverifiedReasons({ passed: null, notes: ["The tests were not run."] })).toEqual([
      "The tests were not run.",
    ]);
    expect(unverifiedReasons({ passed: null, checks: [] })).toHaveLength(1);
    expect(unverifiedReasons({ passed: null, checks: [] }, false)).toBeUndefined();
    for (const proven of [{ passed: true }, { passed: false }, null, undefined])
      expect(unverifiedReasons(proven)).toBeUndefined();
  });
});
