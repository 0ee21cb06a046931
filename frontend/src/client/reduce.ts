import type { WireEvent } from "../wire/types.ts";
import { apply } from "./apply.ts";
import { dropDrafts, takeDelta, takeOutput } from "./live.ts";
import { Sketch } from "./sketch.ts";
import type { Thread } from "./thread.ts";

/**
 * The thread after an event. Pure, and safe against every way in which events can come: twice (the second one changes
 * nothing), out of order (a later one is held until those before it are there), cut off and taken up again.
 */
export const reduce = (thread: Thread, event: WireEvent): Thread => reduceAll(thread, [event]);

/** Many events at the cost of one copy. */
export function reduceAll(thread: Thread, events: readonly WireEvent[]): Thread {
  const sketch = new Sketch(thread);
  for (const event of events) take(sketch, event);
  return sketch.now;
}

/** Goes on without the events that are missing: whoever reads in order knows that there are none. */
export function release(thread: Thread): Thread {
  if (thread.held.length === 0) return thread;
  const sketch = new Sketch(thread);
  const held = thread.held;
  sketch.set("held", []);
  for (const event of held) if (event.seq! > sketch.now.lastSeq) applyDurable(sketch, event);
  return sketch.now;
}

/**
 * A connection begins. Between the pieces of a draft and those to come some may be missing; the sidecar begins with all
 * that was written so far, or, if it was itself started again, with nothing.
 */
export function reconnected(thread: Thread): Thread {
  const sketch = new Sketch(thread);
  dropDrafts(sketch);
  return sketch.now;
}

function take(sketch: Sketch, event: WireEvent): void {
  if (event.type === "delta") return takeDelta(sketch, event);
  if (event.type === "tool_output") return takeOutput(sketch, event);
  const { lastSeq } = sketch.now;
  if (event.seq === undefined || event.seq <= lastSeq) return;
  if (event.seq > lastSeq + 1) return hold(sketch, event);
  applyDurable(sketch, event);
  while (sketch.now.held[0]?.seq === sketch.now.lastSeq + 1) {
    const [next, ...rest] = sketch.now.held;
    sketch.set("held", rest);
    applyDurable(sketch, next!);
  }
}

function hold(sketch: Sketch, event: WireEvent): void {
  const held = sketch.now.held;
  if (held.some((other) => other.seq === event.seq)) return;
  sketch.set(
    "held",
    [...held, event].sort((one, other) => one.seq! - other.seq!),
  );
}

function applyDurable(sketch: Sketch, event: WireEvent): void {
  apply(sketch, event, event.seq!);
  sketch.set("lastSeq", event.seq!);
  sketch.set("lastAt", event.at);
}
