import { describe, expect, it } from "vitest";
import { emptyThread, reduceAll } from "../../client/index.ts";
import { journal } from "../../client/tests/events.ts";
import { groupRows } from "../app/rows.ts";
import { examplesFor } from "../features/welcome/examples.ts";

describe("rows of a conversation", () => {
  it("leaves out an error that an escalation repeats", () => {
    const thread = reduceAll(
      emptyThread("t"),
      journal(
        { type: "error", code: "checks_failed", message: "It does not pass.", recoverable: true },
        { type: "escalation", reason: "It does not pass.", attempts: 3, suggestions: [] },
        { type: "error", code: "disk_full", message: "No room.", recoverable: true },
      ),
    );
    const types = groupRows(thread.items).map(
      (row) => "item" in row && row.item.kind === "note" && row.item.event.type,
    );
    expect(types).toEqual(["escalation", "error"]);
  });

  it("shows a plan and a verdict instead of the JSON that agents exchange, and updates the plan in place", () => {
    const reply = (agent: string, text: string) =>
      ({ type: "message", messageId: agent, role: "assistant", agent, text }) as const;
    const plan = (state: "running" | "done") => ({
      type: "plan" as const,
      items: [{ id: "1", title: "look", state }],
    });
    const thread = reduceAll(
      emptyThread("t"),
      journal(
        reply("planner", '{"steps": []}'),
        plan("running"),
        plan("done"),
        reply("reviewer", "```json\n{}\n```"),
        { type: "verdict", approved: false, issues: [{ severity: "error", text: "wrong" }] },
        reply("coder", "{ is a brace"),
      ),
    );
    const items = groupRows(thread.items).map((row) => ("item" in row ? row.item : undefined));
    expect(items.map((item) => item?.kind)).toEqual(["plan", "verdict", "message"]);
    expect(items[0]).toMatchObject({ steps: [{ state: "done" }] });
  });
});

describe("examples", () => {
  it("are three, and fit the workspace", () => {
    const words = (files: number, tests: boolean, changed: boolean) =>
      examplesFor({ files, tests, changed }).map(({ text }) => text);
    expect(words(0, false, false).every((text) => text.startsWith("create "))).toBe(true);
    expect(words(9, true, true)).toEqual(["explain this project", "run the tests", "review my changes"]);
    expect(words(9, false, true)).toContain("review my changes");
    expect(words(9, false, false)).not.toContain("run the tests");
    for (const files of [0, 9]) for (const is of [true, false]) expect(words(files, is, is)).toHaveLength(3);
  });
});
