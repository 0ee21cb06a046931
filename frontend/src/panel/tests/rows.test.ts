import { describe, expect, it } from "vitest";
import { emptyThread, reduceAll } from "../../client/index.ts";
import { journal } from "../../client/tests/events.ts";
import { rowsOf } from "../app/rows.ts";
import { structured } from "../features/progress/structured.ts";
import { examplesFor } from "../features/welcome/examples.ts";

describe("rows of a conversation", () => {
  it("what is said better by the next is left out", () => {
    const thread = reduceAll(
      emptyThread("t"),
      journal(
        { type: "error", code: "checks_failed", message: "It does not pass.", recoverable: true },
        { type: "escalation", reason: "It does not pass.", attempts: 3, suggestions: [] },
        { type: "error", code: "disk_full", message: "No room.", recoverable: true },
      ),
    );
    const told = rowsOf(thread.items).map((row) => "item" in row && row.item.kind === "note" && row.item.event.type);
    expect(told).toEqual(["escalation", "error"]);
  });
});

describe("examples", () => {
  it("are three, whatever the workspace is, and fit it", () => {
    const words = (files: number, tests: boolean, changed: boolean) =>
      examplesFor({ files, tests, changed }).map(({ text }) => text);
    expect(words(0, false, false).every((text) => text.startsWith("create "))).toBe(true);
    expect(words(9, true, true)).toEqual(["explain this project", "run the tests", "review my changes"]);
    expect(words(9, false, true)).toContain("review my changes");
    expect(words(9, false, false)).not.toContain("run the tests");
    for (const files of [0, 9]) for (const is of [true, false]) expect(words(files, is, is)).toHaveLength(3);
  });
});

describe("what agents say to each other", () => {
  it("is a plan or a verdict, between whatever words and fences; anything else stays as it was written", () => {
    const plan = 'I plan.\n```json\n{"steps": [{"id": 1, "title": "look", "files": ["a.py"]}, {"task": "mend"}]}\n```';
    expect(structured("planner", plan)).toEqual({
      kind: "plan",
      words: "I plan.",
      steps: [
        { title: "look", files: ["a.py"] },
        { title: "mend", files: [] },
      ],
    });
    const verdict =
      '{"passed": false, "issues": [{"file": "a.py", "line": 3, "problem": "wrong", "severity": "high"}]}';
    expect(structured("reviewer", verdict)).toMatchObject({
      kind: "verdict",
      passed: false,
      findings: [{ severity: "high", where: "a.py:3", message: "wrong", fix: "" }],
    });
    for (const [agent, text] of [
      ["coder", plan],
      ["planner", "1. look {at it}"],
      ["reviewer", '{"steps": []}'],
      ["reviewer", "It is fine."],
      ["planner", '{"steps": ['],
    ] as const)
      expect(structured(agent, text), text).toBeUndefined();
  });
});
