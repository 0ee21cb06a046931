import type { DeltaEvent, ToolOutputEvent } from "../wire/types.ts";
import type { Sketch } from "./sketch.ts";

/** What a card shows while a command runs; the beginning of more than this is dropped. */
const OUTPUT_LIMIT = 64 * 1024;

/** A piece of a message, or all of it so far. One that comes after its message is late, and changes nothing. */
export function takeDelta(sketch: Sketch, event: DeltaEvent): void {
  const written = sketch.item(event.messageId);
  if (written !== undefined && written.seq > sketch.now.retriedSeq) return;
  const drafts = sketch.map("drafts");
  const before = drafts.get(event.messageId);
  const { text = "", thinking = "" } = before ?? {};
  const grown = (so: string) => (event.whole ? "" : so) + event.text;
  drafts.set(event.messageId, {
    messageId: event.messageId,
    agent: event.agent,
    text: event.kind === "text" ? grown(text) : text,
    thinking: event.kind === "thinking" ? grown(thinking) : thinking,
    cut: false,
  });
}

export function takeOutput(sketch: Sketch, event: ToolOutputEvent): void {
  const outputs = sketch.map("outputs");
  const text = (event.whole ? "" : (outputs.get(event.callId) ?? "")) + event.text;
  outputs.set(event.callId, text.length > OUTPUT_LIMIT ? `…${text.slice(-OUTPUT_LIMIT)}` : text);
}

/** The message is there: its draft goes, what was thought before it stays as long as this process. */
export function settleDraft(sketch: Sketch, messageId: string): void {
  const draft = sketch.now.drafts.get(messageId);
  if (draft === undefined) return;
  if (draft.thinking) sketch.map("thoughts").set(messageId, draft.thinking);
  sketch.map("drafts").delete(messageId);
}

/** What was thought before an earlier message of this id was not thought before the next. */
export function forgetThought(sketch: Sketch, messageId: string): void {
  if (sketch.now.thoughts.has(messageId)) sketch.map("thoughts").delete(messageId);
}

export function cutDrafts(sketch: Sketch): void {
  for (const [id, draft] of sketch.now.drafts) if (!draft.cut) sketch.map("drafts").set(id, { ...draft, cut: true });
}

export function dropDrafts(sketch: Sketch): void {
  if (sketch.now.drafts.size > 0) sketch.map("drafts").clear();
}
