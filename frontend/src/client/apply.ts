import type {
  ApprovalEvent,
  ChangedFile,
  DiffEvent,
  MessageEvent,
  RouteEvent,
  StatusEvent,
  StepEvent,
  ToolEvent,
  WireEvent,
} from "../wire/types.ts";
import { cutDrafts, dropDrafts, forgetThought, settleDraft } from "./live.ts";
import type { Sketch } from "./sketch.ts";
import { hasEnded } from "./statuses.ts";
import type { NoteItem, StepItem } from "./thread.ts";

/** What a durable event changes. It is the next one: the order is seen to before. */
export function apply(sketch: Sketch, event: WireEvent, seq: number): void {
  switch (event.type) {
    case "status":
      return status(sketch, event, seq);
    case "route":
      return route(sketch, event);
    case "step":
      return step(sketch, event, seq);
    case "message":
      return message(sketch, event, seq);
    case "tool":
      return tool(sketch, event, seq);
    case "approval":
      return approval(sketch, event, seq);
    case "diff":
      return diff(sketch, event, seq);
    case "model": {
      const { role, provider, model } = event;
      sketch.set("model", { role, provider, model });
      if (event.fallbackFrom !== undefined) note(sketch, event, seq);
      return;
    }
    case "usage": {
      const { inputTokens, outputTokens, cachedTokens, costUsd } = event;
      return sketch.set("usage", { inputTokens, outputTokens, cachedTokens, costUsd });
    }
    case "verification": {
      const { passed, attempt, checks } = event;
      sketch.set("verification", { passed, attempt, checks });
      return note(sketch, event, seq);
    }
    case "retry":
      dropDrafts(sketch);
      sketch.set("retriedSeq", seq);
      return note(sketch, event, seq);
    case "complete":
      return sketch.set("result", event.result);
    case "error": {
      const { code, message, recoverable } = event;
      sketch.set("error", { code, message, recoverable });
      sayOnce(sketch, message);
      return note(sketch, event, seq);
    }
    case "handoff":
    case "escalation":
    case "cancelled":
      return note(sketch, event, seq);
    default:
      // A newer sidecar may tell more than this panel knows of; that is no reason to stop.
      return;
  }
}

function note(sketch: Sketch, event: NoteItem["event"], seq: number): void {
  sketch.put({ kind: "note", key: `e${seq}`, seq, at: event.at, event });
}

function status(sketch: Sketch, event: StatusEvent, seq: number): void {
  const { runningSince, workedMs, lastAt } = sketch.now;
  if (event.status === "running") {
    if (runningSince === undefined) sketch.set("runningSince", event.at);
  } else if (runningSince !== undefined) {
    // An interruption is told at the next start; the work ended with the last word before it.
    const until = event.status === "interrupted" ? lastAt : event.at;
    sketch.set("workedMs", workedMs + Math.max(0, Date.parse(until) - Date.parse(runningSince)));
    sketch.set("runningSince", undefined);
  }
  if (event.status === "queued") {
    dropDrafts(sketch);
    sketch.set("retriedSeq", seq);
    sketch.set("retriedSeq", seq);
    sketch.set("error", undefined);
    sketch.set("result", undefined);
  } else if (hasEnded(event.status) || event.status === "interrupted") {
    cutDrafts(sketch);
  }
  sketch.set("status", event.status);
  sketch.set("reason", event.reason);
  const to = event.rewoundTo;
  if (to !== undefined) sketch.set("rewinds", [...sketch.now.rewinds, { to, at: seq }]);
  const again = event.status === "queued" && seq > 1;
  if (to !== undefined || again || event.status === "interrupted") note(sketch, event, seq);
}

function route(sketch: Sketch, event: RouteEvent): void {
  const { intent, confidence, pipeline, why } = event;
  sketch.set("route", { intent, confidence, pipeline, why });
  sketch.set("round", sketch.now.round + 1);
  sketch.set("steps", []);
  sketch.set("verification", undefined);
}

function step(sketch: Sketch, event: StepEvent, seq: number): void {
  const key = `step-${sketch.now.round}-${event.step}`;
  const { step, total, agent, message, state, at } = event;
  const old = sketch.item(key) as StepItem | undefined;
  // One that had ended and begins again does so here, below what was said in between.
  const again = old !== undefined && state === "started" && old.state !== "started";
  if (again) sketch.retire(old);
  const before = again ? undefined : old;
  const failed = state === "failed" && before !== undefined;
  sketch.put({
    kind: "step",
    key,
    seq: before?.seq ?? seq,
    at: before?.at ?? at,
    step,
    total,
    agent,
    message: failed ? before.message : message,
    state,
    ...(state === "started" ? {} : { endedAt: at }),
    ...(failed && !isLastSaid(sketch, message) ? { reason: message } : {}),
  });
  if (old === undefined) sketch.set("steps", [...sketch.now.steps, key]);
}

const isLastSaid = (sketch: Sketch, text: string): boolean =>
  sketch.now.items.findLast((item) => item.kind === "message")?.text === text;

/** What ended a step and the task with it is said by the task. */
function sayOnce(sketch: Sketch, reason: string): void {
  for (const key of sketch.now.steps) {
    const step = sketch.item(key) as StepItem;
    if (step.reason !== reason) continue;
    const { reason: _said, ...rest } = step;
    sketch.put(rest);
  }
}

function message(sketch: Sketch, event: MessageEvent, seq: number): void {
  const { messageId, role, agent, text, at } = event;
  const before = sketch.item(messageId);
  // A reply that did not count is asked for again under its id, perhaps after the person has said something.
  if (before !== undefined && before.seq < sketch.now.retriedSeq) {
    sketch.retire(before);
    forgetThought(sketch, messageId);
  }
  sketch.put({ kind: "message", key: messageId, seq, at, role, agent, text });
  settleDraft(sketch, messageId);
}

function tool(sketch: Sketch, event: ToolEvent, seq: number): void {
  const { type: _type, seq: _seq, taskId: _task, callId, at, ...rest } = event;
  const before = sketch.item(callId);
  sketch.set("lastCall", { key: callId, seq });
  // A turn that calls has said what it had to say, if that was nothing but a thought.
  for (const id of sketch.now.drafts.keys()) if (callId.startsWith(`${event.taskId}.${id}.`)) settleDraft(sketch, id);
  sketch.put({ kind: "tool", key: callId, seq: before?.seq ?? seq, at: before?.at ?? at, ...rest });
}

function approval(sketch: Sketch, event: ApprovalEvent, seq: number): void {
  const { type: _type, seq: _seq, taskId: _task, ...rest } = event;
  const before = sketch.item(event.approvalId);
  sketch.put({ kind: "approval", key: event.approvalId, ...rest, seq: before?.seq ?? seq, at: before?.at ?? event.at });
  const others = sketch.now.asking.filter((key) => key !== event.approvalId);
  sketch.set("asking", event.state === "requested" ? [...others, event.approvalId] : others);
}

function diff(sketch: Sketch, event: DiffEvent, seq: number): void {
  const { lastCall } = sketch.now;
  const made = lastCall.seq === seq - 1 ? sketch.item(lastCall.key) : undefined;
  const before = made && made.seq - 1;
  sketch.set("edits", [...sketch.now.edits, { seq, before, at: event.at, files: event.files }]);
  const changes = sketch.map("changes");
  for (const file of event.files) {
    const merged = together(changes.get(file.path), file);
    if (merged === undefined) changes.delete(file.path);
    else changes.set(file.path, merged);
  }
}

function together(before: ChangedFile | undefined, file: ChangedFile): ChangedFile | undefined {
  if (before === undefined) return file;
  if (before.change === "created" && file.change === "deleted") return undefined;
  const change = before.change === "created" ? "created" : file.change;
  return { path: file.path, change, added: before.added + file.added, removed: before.removed + file.removed };
}
