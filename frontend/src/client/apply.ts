import type {
  ApprovalEvent,
  ChangedFile,
  DiffEvent,
  MessageEvent,
  QuestionEvent,
  RouteEvent,
  StatusEvent,
  StepEvent,
  ToolEvent,
  WireEvent,
} from "../wire/types.ts";
import type { ThreadBuilder } from "./builder.ts";
import { dropDrafts, finishDraft, markDraftsCut } from "./live.ts";
import { hasEnded } from "./statuses.ts";
import type { NoteItem, StepItem } from "./thread.ts";
import { notRewound, type Rewind } from "./timeline.ts";

/** Applies a durable event, which must be the next one in order. */
export function apply(builder: ThreadBuilder, event: WireEvent, seq: number): void {
  switch (event.type) {
    case "status":
      return status(builder, event, seq);
    case "route":
      return route(builder, event);
    case "step":
      return step(builder, event, seq);
    case "message":
      return message(builder, event, seq);
    case "tool":
      return tool(builder, event, seq);
    case "approval":
      return approval(builder, event, seq);
    case "question":
      return question(builder, event, seq);
    case "diff":
      return diff(builder, event, seq);
    case "model": {
      const { role, provider, model } = event;
      builder.set("model", { role, provider, model });
      if (event.fallbackFrom !== undefined) note(builder, event, seq);
      return;
    }
    case "usage": {
      const { inputTokens, outputTokens, cachedTokens, costUsd, contextTokens, contextLimit } = event;
      if (contextTokens) builder.set("context", { tokens: contextTokens, limit: contextLimit ?? undefined });
      return builder.set("usage", { inputTokens, outputTokens, cachedTokens, costUsd });
    }
    case "verification": {
      const { passed, attempt, checks } = event;
      builder.set("verification", { passed, attempt, checks });
      return note(builder, event, seq);
    }
    case "worktree":
      builder.set("worktree", event.state === "created" ? event.path : undefined);
      return note(builder, event, seq);
    case "branch":
      return note(builder, event, seq);
    case "retry":
      dropDrafts(builder);
      builder.set("retriedSeq", seq);
      return note(builder, event, seq);
    case "complete":
      return builder.set("result", event.result);
    case "error": {
      const { code, message, recoverable } = event;
      builder.set("error", { code, message, recoverable });
      dropRepeatedReason(builder, message);
      return note(builder, event, seq);
    }
    case "plan": {
      // One plan a round: later events update the states of its steps.
      const key = `plan-${builder.now.round}`;
      const before = builder.item(key);
      const at = before?.at ?? event.at;
      return builder.put({ kind: "plan", key, seq: before?.seq ?? seq, at, steps: event.items });
    }
    case "verdict": {
      const { approved, issues, at } = event;
      return builder.put({ kind: "verdict", key: `e${seq}`, seq, at, approved, issues });
    }
    case "handoff":
    case "escalation":
    case "cancelled":
      return note(builder, event, seq);
    default:
      // A newer sidecar may send events that this client doesn't know.
      return;
  }
}

function note(builder: ThreadBuilder, event: NoteItem["event"], seq: number): void {
  builder.put({ kind: "note", key: `e${seq}`, seq, at: event.at, event });
}

function status(builder: ThreadBuilder, event: StatusEvent, seq: number): void {
  const { runningSince, workedMs, lastAt } = builder.now;
  if (event.status === "running") {
    if (runningSince === undefined) builder.set("runningSince", event.at);
  } else if (runningSince !== undefined) {
    // The sidecar records an interruption when it starts again; the work ended with the event before it.
    const until = event.status === "interrupted" ? lastAt : event.at;
    builder.set("workedMs", workedMs + Math.max(0, Date.parse(until) - Date.parse(runningSince)));
    builder.set("runningSince", undefined);
  }
  if (event.status === "queued") {
    dropDrafts(builder);
    builder.set("retriedSeq", seq);
    builder.set("error", undefined);
    builder.set("result", undefined);
  } else if (hasEnded(event.status) || event.status === "interrupted") {
    markDraftsCut(builder);
  }
  builder.set("status", event.status);
  builder.set("reason", event.reason);
  const to = event.rewoundTo;
  if (to !== undefined) rewind(builder, { to, at: seq });
  const again = event.status === "queued" && seq > 1;
  if (to !== undefined || again || event.status === "interrupted") note(builder, event, seq);
}

/** Steps that ended after the rewind's target run again when the task resumes. */
function rewind(builder: ThreadBuilder, to: Rewind): void {
  const rewinds = [...builder.now.rewinds, to];
  const counts = notRewound(rewinds);
  const ended = builder.now.steps.filter((key) => counts((builder.item(key) as StepItem).endedSeq ?? to.at - 1));
  builder.set("rewinds", rewinds);
  builder.set("steps", ended);
}

function route(builder: ThreadBuilder, event: RouteEvent): void {
  const { intent, confidence, pipeline, why } = event;
  builder.set("route", { intent, confidence, pipeline, why });
  builder.set("round", builder.now.round + 1);
  builder.set("steps", []);
  builder.set("verification", undefined);
}

function step(builder: ThreadBuilder, event: StepEvent, seq: number): void {
  const key = `step-${builder.now.round}-${event.step}`;
  const { step, total, agent, message, state, at } = event;
  const old = builder.item(key) as StepItem | undefined;
  // A step that starts again is appended, below the messages in between.
  const again = old !== undefined && state === "started" && old.state !== "started";
  if (again) builder.retire(old);
  const before = again ? undefined : old;
  const failed = state === "failed" && before !== undefined;
  builder.put({
    kind: "step",
    key,
    seq: before?.seq ?? seq,
    at: before?.at ?? at,
    step,
    total,
    agent,
    message: failed ? before.message : message,
    state,
    ...(state === "started" ? {} : { endedAt: at, endedSeq: seq }),
    ...(failed && !isLastMessage(builder, message) ? { reason: message } : {}),
  });
  if (!builder.now.steps.includes(key)) builder.set("steps", [...builder.now.steps, key]);
}

const isLastMessage = (builder: ThreadBuilder, text: string): boolean =>
  builder.now.items.findLast((item) => item.kind === "message")?.text === text;

/** Drops the reason of failed steps that the task's own error repeats. */
function dropRepeatedReason(builder: ThreadBuilder, reason: string): void {
  for (const key of builder.now.steps) {
    const step = builder.item(key) as StepItem;
    if (step.reason !== reason) continue;
    const { reason: _, ...rest } = step;
    builder.put(rest);
  }
}

function message(builder: ThreadBuilder, event: MessageEvent, seq: number): void {
  const { messageId, role, agent, text, at, thinking, thinkingMs } = event;
  const before = builder.item(messageId);
  // After a retry the reply comes again with the same id, perhaps below a new message of yours.
  if (before !== undefined && before.seq < builder.now.retriedSeq) builder.retire(before);
  const thought = thinking === undefined ? {} : { thinking, thinkingMs };
  builder.put({ kind: "message", key: messageId, seq, at, role, agent, text, ...thought });
  finishDraft(builder, messageId);
}

function tool(builder: ThreadBuilder, event: ToolEvent, seq: number): void {
  const { type: _type, seq: _seq, taskId: _task, callId, at, ...rest } = event;
  const before = builder.item(callId);
  builder.set("lastCall", { key: callId, seq });
  // A turn that calls a tool is over, also if it had only thinking and no message.
  if (event.messageId !== undefined) finishDraft(builder, event.messageId);
  builder.put({ kind: "tool", key: callId, seq: before?.seq ?? seq, at: before?.at ?? at, ...rest });
}

function approval(builder: ThreadBuilder, event: ApprovalEvent, seq: number): void {
  const { type: _type, seq: _seq, taskId: _task, ...rest } = event;
  const before = builder.item(event.approvalId);
  builder.put({
    kind: "approval",
    key: event.approvalId,
    ...rest,
    seq: before?.seq ?? seq,
    at: before?.at ?? event.at,
  });
  const others = builder.now.openApprovals.filter((key) => key !== event.approvalId);
  builder.set("openApprovals", event.state === "requested" ? [...others, event.approvalId] : others);
}

function question(builder: ThreadBuilder, event: QuestionEvent, seq: number): void {
  const { type: _type, seq: _seq, taskId: _task, ...rest } = event;
  const before = builder.item(event.questionId);
  builder.put({
    kind: "question",
    key: event.questionId,
    ...rest,
    seq: before?.seq ?? seq,
    at: before?.at ?? event.at,
  });
}

function diff(builder: ThreadBuilder, event: DiffEvent, seq: number): void {
  const { lastCall } = builder.now;
  const made = lastCall.seq === seq - 1 ? builder.item(lastCall.key) : undefined;
  const before = made && made.seq - 1;
  // Without files it only says that earlier checks no longer hold.
  if (event.files.length > 0) {
    builder.set("edits", [...builder.now.edits, { seq, before, at: event.at, files: event.files }]);
  }
  const changes = builder.map("changes");
  for (const file of event.files) {
    const merged = mergeChange(changes.get(file.path), file);
    if (merged === undefined) changes.delete(file.path);
    else changes.set(file.path, merged);
  }
}

function mergeChange(before: ChangedFile | undefined, file: ChangedFile): ChangedFile | undefined {
  if (before === undefined) return file;
  if (before.change === "created" && file.change === "deleted") return undefined;
  const added = before.added + file.added;
  const removed = before.removed + file.removed;
  // A new file loses only lines that the task itself had added.
  if (before.change === "created") return { ...before, added: Math.max(0, added - removed), removed: 0 };
  return { path: file.path, change: file.change, added, removed };
}
