import type { WireEvent } from "../wire/types.ts";
import { apply } from "./apply.ts";
import { ThreadBuilder } from "./builder.ts";
import { applyDelta, applyOutput, dropDrafts } from "./live.ts";
import type { Thread } from "./thread.ts";

/**
 * The thread after an event. Pure, and safe against repeats (the second one changes nothing), disorder (a later event
 * is held until those before it arrive) and interrupted connections.
 */
export const reduce = (thread: Thread, event: WireEvent): Thread => reduceAll(thread, [event]);

/** Many events at the cost of one copy. */
export function reduceAll(thread: Thread, events: readonly WireEvent[]): Thread {
  const builder = new ThreadBuilder(thread);
  for (const event of events) applyEvent(builder, event);
  return builder.now;
}

/** Applies held events despite the gap before them. For readers in order, to whom a gap means missing events. */
export function releaseHeld(thread: Thread): Thread {
  if (thread.held.length === 0) return thread;
  const builder = new ThreadBuilder(thread);
  const held = thread.held;
  builder.set("held", []);
  for (const event of held) if (event.seq! > builder.now.lastSeq) applyDurable(builder, event);
  return builder.now;
}

/**
 * Drops drafts when a connection begins, because deltas may have been missed. The sidecar starts with each draft so far,
 * or with nothing if it was restarted.
 */
export function beginConnection(thread: Thread): Thread {
  const builder = new ThreadBuilder(thread);
  dropDrafts(builder);
  return builder.now;
}

function applyEvent(builder: ThreadBuilder, event: WireEvent): void {
  if (event.type === "delta") return applyDelta(builder, event);
  if (event.type === "tool_output") return applyOutput(builder, event);
  const { lastSeq } = builder.now;
  if (event.seq === undefined || event.seq <= lastSeq) return;
  if (event.seq > lastSeq + 1) return hold(builder, event);
  applyDurable(builder, event);
  while (builder.now.held[0]?.seq === builder.now.lastSeq + 1) {
    const [next, ...rest] = builder.now.held;
    builder.set("held", rest);
    applyDurable(builder, next!);
  }
}

function hold(builder: ThreadBuilder, event: WireEvent): void {
  const held = builder.now.held;
  if (held.some((other) => other.seq === event.seq)) return;
  builder.set(
    "held",
    [...held, event].sort((one, other) => one.seq! - other.seq!),
  );
}

function applyDurable(builder: ThreadBuilder, event: WireEvent): void {
  apply(builder, event, event.seq!);
  builder.set("lastSeq", event.seq!);
  builder.set("lastAt", event.at);
}
