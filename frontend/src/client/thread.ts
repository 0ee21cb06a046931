import type {
  ApprovalEvent,
  CancelledEvent,
  ChangedFile,
  Check,
  ErrorBody,
  ErrorEvent,
  EscalationEvent,
  HandoffEvent,
  JsonValue,
  ModelEvent,
  RetryEvent,
  RouteEvent,
  Status,
  StatusEvent,
  TaskResult,
  ToolEvent,
  Usage,
  VerificationEvent,
  WireEvent,
} from "../wire/types.ts";

import type { Rewind } from "./timeline.ts";

export interface MessageItem {
  readonly kind: "message";
  readonly key: string;
  readonly seq: number;
  readonly at: string;
  readonly role: "user" | "assistant";
  readonly agent: string;
  readonly text: string;
}

export interface ToolItem {
  readonly kind: "tool";
  /** The call's id. */
  readonly key: string;
  readonly seq: number;
  readonly at: string;
  readonly tool: string;
  readonly status: ToolEvent["status"];
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly summary: string;
  readonly durationMs: number;
  readonly cached: boolean;
  readonly executor: string;
  readonly error?: ErrorBody;
  readonly details?: JsonValue;
}

export interface ApprovalItem extends Omit<ApprovalEvent, "type" | "seq" | "taskId"> {
  readonly kind: "approval";
  readonly key: string;
  readonly seq: number;
}

export interface StepItem {
  readonly kind: "step";
  readonly key: string;
  readonly seq: number;
  readonly at: string;
  readonly step: number;
  readonly total: number;
  readonly agent: string;
  /** What it does. */
  readonly message: string;
  readonly state: "started" | "completed" | "failed";
  /** Why it failed, where nothing else says so. */
  readonly reason?: string;
  readonly endedAt?: string;
}

/** What is said once and never changes afterwards. */
export interface NoteItem {
  readonly kind: "note";
  readonly key: string;
  readonly seq: number;
  readonly at: string;
  readonly event:
    | StatusEvent
    | ModelEvent
    | HandoffEvent
    | VerificationEvent
    | RetryEvent
    | EscalationEvent
    | ErrorEvent
    | CancelledEvent;
}

export type Item = MessageItem | ToolItem | ApprovalItem | StepItem | NoteItem;

/** A message that is still being written. It is live only: nothing of it outlasts this process. */
export interface Draft {
  readonly messageId: string;
  readonly agent: string;
  readonly text: string;
  readonly thinking: string;
  /** The writer was stopped before the end. */
  readonly cut: boolean;
}

export interface Edit {
  readonly seq: number;
  /** The last event before the call that made it, where a rewind must go to undo it; none made it if it took back. */
  readonly before: number | undefined;
  readonly at: string;
  readonly files: readonly ChangedFile[];
}

export interface Verification {
  readonly passed: boolean;
  readonly attempt: number;
  readonly checks: readonly Check[];
}

/** Everything there is to show of a task: a pure function of its durable events, and of the live ones beside them. */
export interface Thread {
  readonly taskId: string;
  readonly lastSeq: number;
  readonly lastAt: string;
  readonly status: Status;
  readonly reason: string | undefined;
  /** Counts the requests of the conversation: each is routed anew. */
  readonly round: number;
  readonly route: Pick<RouteEvent, "intent" | "confidence" | "pipeline" | "why"> | undefined;
  readonly model: Pick<ModelEvent, "role" | "provider" | "model"> | undefined;
  readonly items: readonly Item[];
  readonly index: ReadonlyMap<string, number>;
  /** Keys of the steps of the present round. */
  readonly steps: readonly string[];
  /** Keys of the approvals that nobody has answered. */
  readonly asking: readonly string[];
  readonly changes: ReadonlyMap<string, ChangedFile>;
  /** Every change in its order: the checkpoints that the task can be taken back to. */
  readonly edits: readonly Edit[];
  readonly verification: Verification | undefined;
  readonly usage: Required<Usage>;
  readonly result: TaskResult | undefined;
  readonly error: Pick<ErrorEvent, "code" | "message" | "recoverable"> | undefined;
  /** Time at work, without waits; `runningSince` is set while it is at work. */
  readonly workedMs: number;
  readonly runningSince: string | undefined;
  /** The event after which something is done again: what was told before it may be told anew, under the same ids. */
  readonly retriedSeq: number;
  /** The call that was told of last, and by which event. */
  readonly lastCall: { readonly key: string; readonly seq: number };
  readonly rewinds: readonly Rewind[];
  /** Events that came before one that they follow. */
  readonly held: readonly WireEvent[];
  readonly drafts: ReadonlyMap<string, Draft>;
  readonly thoughts: ReadonlyMap<string, string>;
  readonly outputs: ReadonlyMap<string, string>;
}

export const emptyThread = (taskId: string): Thread => ({
  taskId,
  lastSeq: 0,
  lastAt: "",
  status: "queued",
  reason: undefined,
  round: 0,
  route: undefined,
  model: undefined,
  items: [],
  index: new Map(),
  steps: [],
  asking: [],
  changes: new Map(),
  edits: [],
  verification: undefined,
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 },
  result: undefined,
  error: undefined,
  workedMs: 0,
  runningSince: undefined,
  retriedSeq: 0,
  lastCall: { key: "", seq: 0 },
  rewinds: [],
  held: [],
  drafts: new Map(),
  thoughts: new Map(),
  outputs: new Map(),
});

/** The part that every client sees alike, however it came to its events. */
export type DurableThread = Omit<Thread, "held" | "drafts" | "thoughts" | "outputs">;

export function durable({ held, drafts, thoughts, outputs, ...rest }: Thread): DurableThread {
  return rest;
}

export const itemOf = (thread: Thread, key: string): Item | undefined => {
  const place = thread.index.get(key);
  return place === undefined ? undefined : thread.items[place];
};
