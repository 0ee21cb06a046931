import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WireEvent } from "../../wire/types.ts";
import { reconnected, reduce, reduceAll, release } from "../reduce.ts";
import { canResume } from "../statuses.ts";
import { durable, emptyThread, itemOf, type Thread } from "../thread.ts";
import { journal, STORY } from "./events.ts";

const empty = emptyThread("t");
const told = (events: readonly WireEvent[], from: Thread = empty): Thread => events.reduce(reduce, from);
const whole = durable(told(STORY));
const isDurable = (event: WireEvent) => event.seq !== undefined;

describe("however the events come, the state is the same", () => {
  it("one by one or all at once", () => {
    expect(reduceAll(empty, STORY)).toEqual(told(STORY));
  });

  it("twice: the second time changes nothing, not even the object", () => {
    const once = told(STORY.filter(isDurable));
    expect(told(STORY.filter(isDurable), once)).toBe(once);
  });

  it("out of order", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(STORY, { minLength: STORY.length }), (shuffled) => {
        expect(durable(told(shuffled))).toEqual(whole);
      }),
    );
  });

  it("cut anywhere, and taken up again with some events repeated", () => {
    fc.assert(
      fc.property(fc.nat(STORY.length), fc.nat(STORY.length), (cut, again) => {
        const before = reconnected(told(STORY.slice(0, cut)));
        const after = STORY.slice(Math.min(cut, again));
        expect(durable(told(after, before))).toEqual(whole);
      }),
    );
  });

  it("with or without what is live only", () => {
    expect(durable(told(STORY.filter(isDurable)))).toEqual(whole);
  });

  it("never changes what it was given", () => {
    const half = told(STORY.slice(0, 14));
    const copy = structuredClone({ ...half });
    told(STORY.slice(14), half);
    expect(half).toEqual(copy);
  });
});

describe("a thread", () => {
  it("shows a message as it is written, then as it is", () => {
    const [first, second, third] = STORY.filter((event) => event.type === "delta");
    const begin = STORY.filter((event) => isDurable(event) && event.seq! <= 6);
    const growing = told([first!, second!, third!], told(begin));
    expect(growing.drafts.get("m1")).toMatchObject({ text: "I look.", thinking: "Hmm." });
    const written = told(STORY.slice(0, 10));
    expect(written.drafts.size).toBe(0);
    expect(itemOf(written, "m1")).toMatchObject({ text: "I look." });
    expect(written.thoughts.get("m1")).toBe("Hmm.");
    expect(told([third!], written).drafts.size).toBe(0);
  });

  it("takes everything so far in the place of what it had, however much that was", () => {
    const word = (text: string, more = {}) =>
      ({ type: "delta", messageId: "m", role: "assistant", agent: "coder", kind: "text", text, ...more }) as const;
    const all = told(journal(word("I l"), word("I look", { whole: true }), word(" at it.")));
    expect(all.drafts.get("m")?.text).toBe("I look at it.");
    const output = (text: string, more = {}) =>
      ({ type: "tool_output", callId: "c", stream: "stdout", text, ...more }) as const;
    expect(told(journal(output("1\n"), output("1\n2\n", { whole: true }))).outputs.get("c")).toBe("1\n2\n");
  });

  it("does not go on showing as being written what ended in a call", () => {
    const { type, ...call } = STORY.find((event) => event.type === "tool")!;
    const events = journal(
      { type: "delta", messageId: "coder.1", role: "assistant", agent: "coder", kind: "thinking", text: "Hm." },
      { ...call, type, callId: "t.coder.1.0" } as never,
    );
    expect(told(events.slice(0, 1)).drafts.size).toBe(1);
    expect(told(events).drafts.size).toBe(0);
  });

  it("holds what comes too early until it is its turn", () => {
    const [one, two, three] = STORY;
    const early = told([one!, three!]);
    expect(early.lastSeq).toBe(1);
    expect(early.held).toHaveLength(1);
    expect(told([two!], early)).toMatchObject({ lastSeq: 3, held: [] });
    expect(release(early)).toMatchObject({ lastSeq: 3, status: "running" });
  });

  it("has one card a call, in the order in which they began", () => {
    const thread = told(STORY);
    expect(thread.items.filter((item) => item.kind === "tool").map((item) => item.key)).toEqual(["c1", "c2"]);
    expect(itemOf(thread, "c1")).toMatchObject({ status: "success", durationMs: 5 });
    expect(thread.outputs.get("c1")).toBe("line\n");
  });

  it("knows what is asked, and that it was answered", () => {
    const asked = told(STORY.filter((event) => isDurable(event) && event.seq! <= 13));
    expect(asked).toMatchObject({ status: "waiting", asking: ["a1"] });
    expect(told(STORY).asking).toEqual([]);
  });

  it("adds up what was changed", () => {
    const thread = told(STORY);
    expect([...thread.changes.values()]).toEqual([{ path: "a.py", change: "created", added: 3, removed: 1 }]);
    expect(thread.edits).toHaveLength(2);
  });

  it("tells what is done again below what was said in between, and leaves what was told before where it was", () => {
    const begun = { type: "step", step: 1, total: 1, agent: "coder", message: "Rename it", state: "started" } as const;
    const said = (text: string) =>
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
      said("Which one?"),
      ...failed("Which one?"),
      { type: "message", messageId: "m_1", role: "user", agent: "", text: "this one" },
      { type: "status", status: "queued", reason: "continued by a message" },
      begun,
      { type: "delta", messageId: "r1.coder.0", role: "assistant", agent: "coder", kind: "text", text: "I do not" },
      said("I do not know that one."),
      ...failed("I do not know that one."),
    );
    const shown = told(events).items.flatMap((item) =>
      item.kind === "message" ? [item.text] : item.kind === "step" ? [`${item.agent}: ${item.message}`] : [],
    );
    expect(shown).toEqual([
      "coder: Rename it",
      "Which one?",
      "this one",
      "coder: Rename it",
      "I do not know that one.",
    ]);
    expect(told(events).steps).toHaveLength(1);
    const writing = told(events.slice(0, 11));
    expect(writing.drafts.get("r1.coder.0")?.text).toBe("I do not");
    expect(itemOf(told(events), "r1.coder.0")).toMatchObject({ text: "I do not know that one." });
  });

  it("says why a step failed once: beside it, unless its agent or the task says so", () => {
    const begun = { type: "step", step: 1, total: 2, agent: "coder", message: "Write it", state: "started" } as const;
    const away = "The model is away.";
    const stopped = "Stopped, because another step failed.";
    const thread = told(
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

  it("counts the time at work, not the waits, and not the time that the sidecar was dead", () => {
    const events = journal(
      { type: "status", status: "queued" },
      { type: "status", status: "running" },
      { type: "message", messageId: "m", role: "assistant", agent: "coder", text: "x" },
      { type: "status", status: "interrupted" },
      { type: "status", status: "queued", reason: "resumed" },
      { type: "status", status: "running" },
      { type: "status", status: "completed" },
    );
    expect(told(events).workedMs).toBe(2_000);
  });

  it("offers to go on only where that may get further", () => {
    const failed = (recoverable: boolean) =>
      told(
        journal(
          { type: "status", status: "queued" },
          { type: "error", code: "not_possible", message: "No.", recoverable },
          { type: "status", status: "failed" },
        ),
      );
    expect(canResume(failed(true))).toBe(true);
    expect(canResume(failed(false))).toBe(false);
    expect(canResume(told([{ ...STORY[0]!, type: "status", status: "cancelled" }]))).toBe(true);
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
    const begun = told([STORY[0]!, STORY[1]!, STORY[2]!]);
    const writing = told(
      STORY.filter((event) => event.type === "delta"),
      begun,
    );
    const stopped = told(
      [{ type: "status", status: "cancelled", seq: 4, taskId: "t", at: "2026-01-01T12:01:00Z" }],
      writing,
    );
    expect(stopped.drafts.get("m1")).toMatchObject({ text: "I look.", cut: true });
    const again = told(
      [{ type: "status", status: "queued", seq: 5, taskId: "t", at: "2026-01-01T12:02:00Z" }],
      stopped,
    );
    expect(again.drafts.size).toBe(0);
  });

  it("shows what is said anew when a task goes on whose words were cut off", () => {
    const at = "2026-01-01T12:01:00Z";
    const said = { taskId: "t", at, messageId: "m1", role: "assistant", agent: "coder" } as const;
    const resumed = told([
      { type: "message", ...said, text: "I lo", seq: 1 },
      { type: "status", status: "cancelled", seq: 2, taskId: "t", at },
      { type: "status", status: "queued", seq: 3, taskId: "t", at },
      { type: "delta", ...said, text: "I look", kind: "text" },
    ]);
    expect(resumed.drafts.get("m1")?.text).toBe("I look");
    const done = told([{ type: "message", ...said, text: "I look at it.", seq: 4 }], resumed);
    expect(done.drafts.size).toBe(0);
    expect(itemOf(done, "m1")).toMatchObject({ text: "I look at it." });
  });
});
