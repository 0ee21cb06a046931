import { createParser } from "eventsource-parser";
import type { WireEvent } from "../wire/types.ts";

/** The events that one read of the body completed, and the id of the last durable one among them. */
export interface EventBatch {
  readonly events: WireEvent[];
  readonly cursor: string | undefined;
}

/**
 * Reads the events of an SSE body, batched by network read: ten thousand replayed events are some fifty batches. Ends
 * with the body and throws what the body throws. Calls `onActivity` for every read, keep-alive comments included.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onActivity: () => void = () => {},
): AsyncGenerator<EventBatch, void> {
  let events: WireEvent[] = [];
  let cursor: string | undefined;
  const parser = createParser({
    onEvent(message) {
      events.push(JSON.parse(message.data) as WireEvent);
      if (message.id !== undefined) cursor = message.id;
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onActivity();
      parser.feed(decoder.decode(value, { stream: true }));
      if (events.length > 0) {
        yield { events, cursor };
        events = [];
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
