import { createParser } from "eventsource-parser";
import type { WireEvent } from "../wire/types.ts";

/**
 * The events of an SSE body, in the pieces in which they come: a replay of ten thousand is some fifty pieces, not ten
 * thousand wake-ups. Ends when the body ends; throws what the body throws.
 */
export async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  heard: () => void = () => {},
): AsyncGenerator<WireEvent[], void> {
  let batch: WireEvent[] = [];
  const parser = createParser({
    onEvent(message) {
      batch.push(JSON.parse(message.data) as WireEvent);
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      parser.feed(decoder.decode(value, { stream: true }));
      if (batch.length > 0) {
        yield batch;
        batch = [];
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
