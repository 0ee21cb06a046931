import { describe, expect, it } from "vitest";
import { emptyThread, reduceAll, type ToolItem } from "../../client/index.ts";
import { journal } from "../../client/tests/events.ts";
import type { Task } from "../../wire/types.ts";
import { unverifiedReasons } from "../app/Ending.tsx";
import { groupRows } from "../app/rows.ts";
import { NO_SPENDING, reduceSpending } from "../features/dashboard/spending.ts";
import { groupByDate } from "../features/history/groups.ts";
import { describeBurst } from "../features/progress/burst.ts";
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

describe("tool calls", () => {
  const call = (callId: string, tool: string, args = {}, more = {}) =>
    ({
      type: "tool",
      callId,
      tool,
      status: "success",
      args,
      summary: "",
      durationMs: 1,
      cached: false,
      executor: "local",
      ...more,
    }) as const;
  const thread = reduceAll(
    emptyThread("t"),
    journal(
      call("1", "read_file", { path: "a.py" }),
      call("2", "read_files", { paths: ["a.py", "b.py"] }),
      call("3", "run_tests"),
      call("4", "edit_file", { path: "a.py" }, { details: { diff: "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b" } }),
      call("5", "search_code", { query: "x" }),
      call("6", "run_command", { command: "make" }, { status: "error" }),
      call("7", "git_diff", {}, { details: { diff: "@@ -1 +1 @@\n-a\n+b" } }),
      call("8", "git_status"),
    ),
  );

  it("fold into one row, except edits and those that failed", () => {
    const rows = groupRows(thread.items).map((row) => ("burst" in row ? row.burst.map(({ key }) => key) : row.key));
    expect(rows).toEqual([["1", "2", "3"], "4", "5", "6", ["7", "8"]]);
  });

  it("are summed up in one line", () => {
    const line = groupRows(thread.items).map((row) => "burst" in row && describeBurst(row.burst))[0];
    expect(line).toBe("Explored 2 files, ran the tests");
  });

  it("are told in words, not by the names of tools", () => {
    const called = (tool: string, args: Record<string, string> = {}) =>
      ({ kind: "tool", key: tool, tool, args }) as unknown as ToolItem;
    expect(describeBurst([called("describe_project"), called("find_commands"), called("git_status")])).toBe(
      "Explored the workspace, looked at Git",
    );
    expect(describeBurst([called("describe_file", { path: "a.py" }), called("find_usages", { symbol: "x" })])).toBe(
      "Explored 1 file, searched",
    );
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

describe("costs", () => {
  it("are counted once, by day and by the model at work", () => {
    const usage = (costUsd: number) =>
      ({ type: "usage", inputTokens: 10, outputTokens: 5, cachedTokens: 0, costUsd }) as const;
    const model = (name: string) => ({ type: "model", role: "smart", provider: "p", model: name }) as const;
    const events = journal(model("a"), usage(1), usage(3), model("b"), usage(4));
    const spent = events.reduce(reduceSpending, NO_SPENDING);
    expect(spent.costUsd).toBe(4);
    expect(Object.fromEntries(spent.models)).toEqual({ "p/a": 3, "p/b": 1 });
    expect([...spent.days.values()].reduce((sum, one) => sum + one, 0)).toBe(4);
  });
});

describe("history", () => {
  it("shows tasks that need you first, then pinned ones, then by day", () => {
    const now = new Date(2026, 5, 20, 12);
    const task = (id: string, daysAgo: number, more = {}) =>
      ({
        id,
        status: "completed",
        createdAt: new Date(now.getTime() - daysAgo * 86_400_000).toISOString(),
        ...more,
      }) as Task;
    const groups = groupByDate(
      [
        task("a", 0),
        task("b", 1),
        task("c", 3, { pinned: true }),
        task("d", 20),
        task("e", 200, { status: "waiting" }),
      ],
      now,
    );
    expect(groups.map(({ name, tasks }) => [name, tasks[0]!.id])).toEqual([
      ["Needs you", "e"],
      ["Pinned", "c"],
      ["Today", "a"],
      ["Yesterday", "b"],
      ["Last 30 days", "d"],
    ]);
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
