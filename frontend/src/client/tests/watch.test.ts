import { describe, expect, it } from "vitest";
import type { WireEvent } from "../../wire/types.ts";
import { reduceAll } from "../reduce.ts";
import { BrainService } from "../service.ts";
import { fixedToken } from "../session.ts";
import { durable, emptyThread } from "../thread.ts";
import { TaskWatch } from "../watch.ts";
import { journal, STORY } from "./events.ts";
import { ScriptedSidecar, stream } from "./sidecar.ts";

/** A stream of these events that stays open. */
const endless = (events: readonly WireEvent[]): Response => {
  const text = events
    .map((event) => `${event.seq ? `id: ${event.seq}\n` : ""}data: ${JSON.stringify(event)}\n\n`)
    .join("");
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
};
const durableEvents = STORY.filter((event) => event.seq !== undefined);
const until = (watch: TaskWatch, holds: () => boolean) =>
  new Promise<void>((resolve) => {
    const look = () => holds() && resolve();
    watch.subscribe(look);
    look();
  });

describe("a watched task", () => {
  it("reaches the state of all its events through a broken connection", async () => {
    const sidecar = new ScriptedSidecar([
      stream(durableEvents.slice(0, 8), { breaks: true }),
      stream(durableEvents.slice(8)),
    ]);
    const watch = new TaskWatch(new BrainService({ credentials: fixedToken("x"), fetch: sidecar.fetch }), "t");
    watch.start();
    await until(watch, () => watch.snapshot().connection.state === "closed");
    expect(durable(watch.snapshot().thread)).toEqual(durable(reduceAll(emptyThread("t"), durableEvents)));
  });

  it("continues despite events missing in the journal", async () => {
    const holes = durableEvents.filter((event) => event.seq !== 4 && event.seq !== 9);
    const sidecar = new ScriptedSidecar([stream(holes)]);
    const watch = new TaskWatch(new BrainService({ credentials: fixedToken("x"), fetch: sidecar.fetch }), "t");
    watch.start();
    await until(watch, () => watch.snapshot().connection.state === "closed");
    expect(watch.snapshot().thread).toMatchObject({
      status: "completed",
      lastSeq: durableEvents.at(-1)?.seq,
      held: [],
    });
  });

  it("repeats no word when it is stopped and resumed in the middle of a message", async () => {
    const word = (text: string, more = {}) =>
      ({ type: "delta", messageId: "m", role: "assistant", agent: "coder", kind: "text", text, ...more }) as const;
    const began = [durableEvents[0]!, durableEvents[1]!, ...journal(word("One "), word("two "))];
    const rest = [...journal(word("One two three ", { whole: true }), word("four."))];
    const sidecar = new ScriptedSidecar([endless(began), endless(rest)]);
    const watch = new TaskWatch(new BrainService({ credentials: fixedToken("x"), fetch: sidecar.fetch }), "t");
    const written = () => watch.snapshot().thread.drafts.get("m")?.text;
    watch.start();
    await until(watch, () => written() === "One two ");
    watch.stop();
    watch.start();
    await until(watch, () => written() === "One two three four.");
    watch.stop();
  });

  it("publishes a long replay in few updates", async () => {
    const past = Array.from({ length: 3_000 }, (_, place) => ({
      type: "usage",
      seq: place + 1,
      taskId: "t",
      at: "2026-01-01T12:00:00Z",
      inputTokens: place,
      outputTokens: 0,
      cachedTokens: 0,
      costUsd: 0,
    })) as WireEvent[];
    const end = {
      type: "status",
      status: "completed",
      seq: 3_001,
      taskId: "t",
      at: "2026-01-01T12:00:01Z",
    } as WireEvent;
    const sidecar = new ScriptedSidecar([stream([...past, end], { chunk: 4_096 })]);
    const watch = new TaskWatch(new BrainService({ credentials: fixedToken("x"), fetch: sidecar.fetch }), "t");
    const seen = new Set<number>();
    watch.subscribe(() => seen.add(watch.snapshot().thread.lastSeq));
    watch.start();
    await until(watch, () => watch.snapshot().connection.state === "closed");
    expect(watch.snapshot().thread.usage.inputTokens).toBe(2_999);
    expect([...seen].filter((seq) => seq > 0 && seq < 3_001).length).toBeLessThan(20);
  });
});
