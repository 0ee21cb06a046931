import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WireEvent } from "../../wire/types.ts";
import { beginConnection, reduce, reduceAll, releaseHeld } from "../reduce.ts";
import { canResume } from "../statuses.ts";
import { durable, emptyThread, itemOf, type Thread } from "../thread.ts";
import { journal, STORY } from "./events.ts";

const empty = emptyThread("t");
const replay = (events: readonly WireEvent[], from: Thread = empty): Thread => events.reduce(reduce, from);
const whole = durable(replay(STORY));
const isDurable = (event: WireEvent) => event.seq !== undefined;

describe("the state does not depend on how events arrive", () => {
  it("one by one or all at once", () => {
    expect(reduceAll(empty, STORY)).toEqual(replay(STORY));
  });

  it("twice: the second time returns the same object", () => {
    const once = replay(STORY.filter(isDurable));
    expect(replay(STORY.filter(isDurable), once)).toBe(once);
  });

  it("out of order", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(STORY, { minLength: STORY.length }), (shuffled) => {
        expect(durable(replay(shuffled))).toEqual(whole);
      }),
    );
  });

  it("interrupted anywhere, and resumed with some events repeated", () => {
    fc.assert(
      fc.property(fc.nat(STORY.length), fc.nat(STORY.length), (cut, again) => {
        const before = beginConnection(replay(STORY.slice(0, cut)));
        const after = STORY.slice(Math.min(cut, again));
        expect(durable(replay(after, before))).toEqual(whole);
      }),
    );
  });

  it("with or without live events", () => {
    expect(durable(replay(STORY.filter(isDurable)))).toEqual(whole);
  });

  it("never mutates its input", () => {
    const half = replay(STORY.slice(0, 14));
    const copy = structuredClone({ ...half });
    replay(STORY.slice(14), half);
    expect(half).toEqual(copy);
  });
});

describe("a thread", () => {
  it("shows a draft while it grows, then the message", () => {
    const [first, second, third] = STORY.filter((event) => event.type === "delta");
    const begin = STORY.filter((event) => isDurable(event) && event.seq! <= 6);
    const growing = replay([first!, second!, third!], replay(begin));
    expect(growing.drafts.get("m1")).toMatchObject({ text: "I look.", thinking: "Hmm." });
    const written = replay(STORY.slice(0, 10));
    expect(written.drafts.size).toBe(0);
    expect(itemOf(written, "m1")).toMatchObject({ text: "I look.", thinking: "Hmm.", thinkingMs: 1_200 });
    expect(replay([third!], written).drafts.size).toBe(0);
  });

  it("replaces a draft or output by a whole one", () => {
    const word = (text: string, more = {}) =>
      ({ type: "delta", messageId: "m", role: "assistant", agent: "coder", kind: "text", text, ...more }) as const;
    const all = replay(journal(word("I l"), word("I look", { whole: true }), word(" at it.")));
    expect(all.drafts.get("m")?.text).toBe("I look at it.");
    const output = (text: string, more = {}) =>
      ({ type: "tool_output", callId: "c", stream: "stdout", text, ...more }) as const;
    expect(replay(journal(output("1\n"), output("1\n2\n", { whole: true }))).outputs.get("c")).toBe("1\n2\n");
  });

  it("ends a draft whose turn made a tool call", () => {
    const { type, ...call } = STORY.find((event) => event.type === "tool")!;
    const events = journal(
      { type: "delta", messageId: "coder.1", role: "assistant", agent: "coder", kind: "thinking", text: "Hm." },
      { ...call, type, messageId: "coder.1" } as never,
    );
    expect(replay(events.slice(0, 1)).drafts.size).toBe(1);
    expect(replay(events).drafts.size).toBe(0);
  });

  it("holds early events until those before them arrive", () => {
    const [one, two, three] = STORY;
    const early = replay([one!, three!]);
    expect(early.lastSeq).toBe(1);
    expect(early.held).toHaveLength(1);
    expect(replay([two!], early)).toMatchObject({ lastSeq: 3, held: [] });
    expect(releaseHeld(early)).toMatchObject({ lastSeq: 3, status: "running" });
  });

  it("has one item per call, in the order of their start", () => {
    const thread = replay(STORY);
    expect(thread.items.filter((item) => item.kind === "tool").map((item) => item.key)).toEqual(["c1", "c2"]);
    expect(itemOf(thread, "c1")).toMatchObject({ status: "success", durationMs: 5 });
    expect(thread.outputs.get("c1")).toBe("line\n");
  });

  it("knows which approvals are open", () => {
    const asked = replay(STORY.filter((event) => isDurable(event) && event.seq! <= 13));
    expect(asked).toMatchObject({ status: "waiting", openApprovals: ["a1"] });
    expect(replay(STORY).openApprovals).toEqual([]);
  });

  it("keeps one item for a question and its answer", () => {
    const asked = { type: "question", questionId: "q1", text: "Again?" } as const;
    const answered = { ...asked, state: "answered", answer: "skip", by: "policy" } as const;
    const thread = replay(journal({ ...asked, state: "asked" }, answered));
    expect(thread.items.filter((item) => item.kind === "question")).toMatchObject([
      { key: "q1", seq: 1, state: "answered", answer: "skip", by: "policy" },
    ]);
  });

  it("sums up the changes", () => {
    const thread = replay(STORY);
    expect([...thread.changes.values()]).toEqual([{ path: "a.py", change: "created", added: 2, removed: 0 }]);
    expect(thread.edits).toHaveLength(2);
  });

  it("appends repeated steps and messages, and leaves the earlier ones in place", () => {
    const begun = { type: "step", step: 1, total: 1, agent: "coder", message: "Rename it", state: "started" } as const;
    const message = (text: string) =>
      ({ type: "message", messageId: "r1.coder.0", role: "assistant", agent: "coder", text }) as const;
    const failed = (message: string) =>
      [
        { ...begun, message, state: "failed" },
        { type: "error", code: "not_possible", message, recoverable: false },
        { type: "status", status: "failed" },
      ] as const;
    const events = journal(
      { type: "status", status: "queued" },
      { type: "route", intent: "edit_code", confidence: 1, pipeline: ["coder"], why: "" },
      begun,
      message("Which one?"),
      ...failed("Which one?"),
      { type: "message", messageId: "m_1", role: "user", agent: "", text: "this one" },
      { type: "status", status: "queued", reason: "continued by a message" },
      begun,
      { type: "delta", messageId: "r1.coder.0", role: "assistant", agent: "coder", kind: "text", text: "I do not" },
      message("I do not know that one."),
      ...failed("I do not know that one."),
    );
    const shown = replay(events).items.flatMap((item) =>
      item.kind === "message" ? [item.text] : item.kind === "step" ? [`${item.agent}: ${item.message}`] : [],
    );
    expect(shown).toEqual([
      "coder: Rename it",
      "Which one?",
      "this one",
      "coder: Rename it",
      "I do not know that one.",
    ]);
    expect(replay(events).steps).toHaveLength(1);
    const writing = replay(events.slice(0, 11));
    expect(writing.drafts.get("r1.coder.0")?.text).toBe("I do not");
    expect(itemOf(replay(events), "r1.coder.0")).toMatchObject({ text: "I do not know that one." });
  });

  it("gives a step's failure reason once: with the step, unless a message or the task's error has it", () => {
    const begun = { type: "step", step: 1, total: 2, agent: "coder", message: "Write it", state: "started" } as const;
    const away = "The model is away.";
    const stopped = "Stopped, because another step failed.";
    const thread = replay(
      journal(
        begun,
        { ...begun, step: 2 },
        { ...begun, message: away, state: "failed" },
        { ...begun, step: 2, message: stopped, state: "failed" },
        { type: "error", code: "model", message: away, recoverable: true },
      ),
    );
    const steps = thread.items.filter((item) => item.kind === "step");
    expect(steps.map(({ message, reason }) => [message, reason])).toEqual([
      ["Write it", undefined],
      ["Write it", stopped],
    ]);
  });

  it("counts running time, not waits nor the time while the sidecar was down", () => {
    const events = journal(
      { type: "status", status: "queued" },
      { type: "status", status: "running" },
      { type: "message", messageId: "m", role: "assistant", agent: "coder", text: "x" },
      { type: "status", status: "interrupted" },
      { type: "status", status: "queued", reason: "resumed" },
      { type: "status", status: "running" },
      { type: "status", status: "completed" },
    );
    expect(replay(events).workedMs).toBe(2_000);
  });

  it("offers to go on only where that may get further", () => {
    const failed = (recoverable: boolean) =>
      replay(
        journal(
          { type: "status", status: "queued" },
          { type: "error", code: "not_possible", message: "No.", recoverable },
          { type: "status", status: "failed" },
        ),
      );
    expect(canResume(failed(true))).toBe(true);
    expect(canResume(failed(false))).toBe(false);
    expect(canResume(replay([{ ...STORY[0]!, type: "status", status: "cancelled" }]))).toBe(true);
  });

  it("does not stop at an event that it does not know", () => {
    const strange = {
      type: "from_the_future",
      seq: 1,
      taskId: "t",
      at: "2026-01-01T00:00:00Z",
    } as unknown as WireEvent;
    expect(reduce(empty, strange).lastSeq).toBe(1);
  });

  it("keeps what was written when the writer was stopped, until it begins again", () => {
    const begun = replay([STORY[0]!, STORY[1]!, STORY[2]!]);
    const writing = replay(
      STORY.filter((event) => event.type === "delta"),
      begun,
    );
    const stopped = replay(
      [{ type: "status", status: "cancelled", seq: 4, taskId: "t", at: "2026-01-01T12:01:00Z" }],
      writing,
    );
    expect(stopped.drafts.get("m1")).toMatchObject({ text: "I look.", cut: true });
    const again = replay(
      [{ type: "status", status: "queued", seq: 5, taskId: "t", at: "2026-01-01T12:02:00Z" }],
      stopped,
    );
    expect(again.drafts.size).toBe(0);
  });

  it("shows a message again when an interrupted task repeats it", () => {
    const at = "2026-01-01T12:01:00Z";
    const message = { taskId: "t", at, messageId: "m1", role: "assistant", agent: "coder" } as const;
    const resumed = replay([
      { type: "message", ...message, text: "I lo", seq: 1 },
      { type: "status", status: "cancelled", seq: 2, taskId: "t", at },
      { type: "status", status: "queued", seq: 3, taskId: "t", at },
      { type: "delta", ...message, text: "I look", kind: "text" },
    ]);
    expect(resumed.drafts.get("m1")?.text).toBe("I look");
    const done = replay([{ type: "message", ...message, text: "I look at it.", seq: 4 }], resumed);
    expect(done.drafts.size).toBe(0);
    expect(itemOf(done, "m1")).toMatchObject({ text: "I look at it." });
  });
});
