import type {
  ApprovalEvent,
  BranchEvent,
  CancelledEvent,
  ChangedFile,
  Check,
  ErrorBody,
  ErrorEvent,
  EscalationEvent,
  HandoffEvent,
  JsonValue,
  ModelEvent,
  PlanEvent,
  QuestionEvent,
  RetryEvent,
  RouteEvent,
  Status,
  StatusEvent,
  TaskResult,
  ToolEvent,
  Usage,
  VerdictEvent,
  VerificationEvent,
  WireEvent,
  WorktreeEvent,
} from "../wire/types.ts";

import type { Rewind } from "./timeline.ts";

export interface MessageItem {
  readonly kind: "message";
  readonly key: string;
  readonly seq: number;
  readonly at: string;
  readonly role: "user" | "assistant";
  readonly agent: string;
  /** Empty for a turn that only thought before its calls. */
  readonly text: string;
  readonly thinking?: string | undefined;
  readonly thinkingMs?: number | undefined;
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

export interface QuestionItem extends Omit<QuestionEvent, "type" | "seq" | "taskId"> {
  readonly kind: "question";
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
  /** What the step does. */
  readonly message: string;
  readonly state: "started" | "completed" | "failed";
  /** Why it failed, unless another item says so. */
  readonly reason?: string;
  readonly endedAt?: string;
  readonly endedSeq?: number;
}

/** An event that never changes afterwards. */
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
    | WorktreeEvent
    | BranchEvent
    | CancelledEvent;
}

export interface PlanThreadItem {
  readonly kind: "plan";
  readonly key: string;
  readonly seq: number;
  readonly at: string;
  readonly steps: PlanEvent["items"];
}

export interface VerdictThreadItem {
  readonly kind: "verdict";
  readonly key: string;
  readonly seq: number;
  readonly at: string;
  readonly approved: boolean;
  readonly issues: VerdictEvent["issues"];
}

export type Item =
  | MessageItem
  | ToolItem
  | ApprovalItem
  | QuestionItem
  | StepItem
  | PlanThreadItem
  | VerdictThreadItem
  | NoteItem;

/** A message that is still being written. Drafts are live only. */
export interface Draft {
  readonly messageId: string;
  readonly agent: string;
  readonly text: string;
  readonly thinking: string;
  /** When the first delta of its thinking came. */
  readonly thinkingSince: string | undefined;
  /** The agent stopped before the end. */
  readonly cut: boolean;
}

export interface Edit {
  readonly seq: number;
  /** The last event before the call that made the edit: the rewind target that undoes it. Undefined for an undo. */
  readonly before: number | undefined;
  readonly at: string;
  readonly files: readonly ChangedFile[];
}

export interface Verification {
  readonly passed: boolean;
  readonly attempt: number;
  readonly checks: readonly Check[];
}

/** The state of a task: a pure function of its durable events, and of the live ones among them. */
export interface Thread {
  readonly taskId: string;
  readonly lastSeq: number;
  readonly lastAt: string;
  readonly status: Status;
  readonly reason: string | undefined;
  /** Counts the rounds: each message of yours is routed again. */
  readonly round: number;
  readonly route: Pick<RouteEvent, "intent" | "confidence" | "pipeline" | "why"> | undefined;
  readonly model: Pick<ModelEvent, "role" | "provider" | "model"> | undefined;
  readonly items: readonly Item[];
  readonly index: ReadonlyMap<string, number>;
  /** Keys of this round's steps. */
  readonly steps: readonly string[];
  /** Keys of open approvals. */
  readonly openApprovals: readonly string[];
  readonly changes: ReadonlyMap<string, ChangedFile>;
  /** Every edit in order: the checkpoints that a rewind can go to. */
  readonly edits: readonly Edit[];
  readonly verification: Verification | undefined;
  readonly usage: Required<Usage>;
  /** How long the conversation was at the last request, and the model's window if it is known. */
  readonly context: { readonly tokens: number; readonly limit: number | undefined } | undefined;
  /** Where an isolated task works, until that is merged or discarded. */
  readonly worktree: string | undefined;
  readonly result: TaskResult | undefined;
  readonly error: Pick<ErrorEvent, "code" | "message" | "recoverable"> | undefined;
  /** Running time without waits; `runningSince` is set while it runs. */
  readonly workedMs: number;
  readonly runningSince: string | undefined;
  /** The last retry: items from before it may come again with the same ids. */
  readonly retriedSeq: number;
  /** The last tool call, and the event that reported it. */
  readonly lastCall: { readonly key: string; readonly seq: number };
  readonly rewinds: readonly Rewind[];
  /** Events that wait for an earlier one. */
  readonly held: readonly WireEvent[];
  readonly drafts: ReadonlyMap<string, Draft>;
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
  openApprovals: [],
  changes: new Map(),
  edits: [],
  verification: undefined,
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 },
  context: undefined,
  worktree: undefined,
  result: undefined,
  error: undefined,
  workedMs: 0,
  runningSince: undefined,
  retriedSeq: 0,
  lastCall: { key: "", seq: 0 },
  rewinds: [],
  held: [],
  drafts: new Map(),
  outputs: new Map(),
});

/** The part that depends on durable events only. */
export type DurableThread = Omit<Thread, "held" | "drafts" | "outputs">;

export function durable({ held, drafts, outputs, ...rest }: Thread): DurableThread {
  return rest;
}

export const itemOf = (thread: Thread, key: string): Item | undefined => {
  const place = thread.index.get(key);
  return place === undefined ? undefined : thread.items[place];
};
