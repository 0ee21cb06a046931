import type { DeltaEvent, ToolOutputEvent } from "../wire/types.ts";
import type { ThreadBuilder } from "./builder.ts";

/** How much live output a tool card keeps; older output is dropped. */
const OUTPUT_LIMIT = 64 * 1024;

/** Appends a delta to its draft, or replaces the draft if the delta is `whole`. Ignores one that follows its message. */
export function applyDelta(builder: ThreadBuilder, event: DeltaEvent): void {
  const message = builder.item(event.messageId);
  if (message !== undefined && message.seq > builder.now.retriedSeq) return;
  const drafts = builder.map("drafts");
  const before = drafts.get(event.messageId);
  const { text = "", thinking = "" } = before ?? {};
  const append = (before: string) => (event.whole ? "" : before) + event.text;
  drafts.set(event.messageId, {
    messageId: event.messageId,
    agent: event.agent,
    text: event.kind === "text" ? append(text) : text,
    thinking: event.kind === "thinking" ? append(thinking) : thinking,
    thinkingSince: before?.thinkingSince ?? (event.kind === "thinking" ? event.at : undefined),
    cut: false,
  });
}

export function applyOutput(builder: ThreadBuilder, event: ToolOutputEvent): void {
  const outputs = builder.map("outputs");
  const text = (event.whole ? "" : (outputs.get(event.callId) ?? "")) + event.text;
  outputs.set(event.callId, text.length > OUTPUT_LIMIT ? `…${text.slice(-OUTPUT_LIMIT)}` : text);
}

/** Removes the draft of a finished message. */
export function finishDraft(builder: ThreadBuilder, messageId: string): void {
  if (builder.now.drafts.has(messageId)) builder.map("drafts").delete(messageId);
}

export function markDraftsCut(builder: ThreadBuilder): void {
  for (const [id, draft] of builder.now.drafts) if (!draft.cut) builder.map("drafts").set(id, { ...draft, cut: true });
}

export function dropDrafts(builder: ThreadBuilder): void {
  if (builder.now.drafts.size > 0) builder.map("drafts").clear();
}
