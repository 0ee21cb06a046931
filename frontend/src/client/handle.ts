import type {
  Accepted,
  ApprovalAnswer,
  ApprovalRequest,
  DiffAnswer,
  ForkRequest,
  HunkRequest,
  QuestionAnswer,
  RewindAnswer,
  RewindRequest,
  Task,
  WireEvent,
} from "../wire/types.ts";
import type { FollowOptions } from "./follow.ts";
import type { BrainService } from "./service.ts";

/** One task and its operations. */
export class TaskHandle {
  constructor(
    private readonly service: BrainService,
    readonly id: string,
    /** What you should know before it runs, such as a configuration file that is broken. */
    readonly notice?: string,
  ) {}

  /** Each event, in order, until the task ends. */
  async *events(options?: FollowOptions): AsyncGenerator<WireEvent, void> {
    for await (const batch of this.service.follow(this.id, options)) yield* batch;
  }

  /** Waits until the task ends. */
  async ended(options?: FollowOptions): Promise<Task> {
    for await (const _ of this.service.follow(this.id, options));
    return this.service.task(this.id);
  }

  now(): Promise<Task> {
    return this.service.task(this.id);
  }

  cancel(): Promise<Accepted> {
    return this.service.cancel(this.id);
  }

  resume(): Promise<Accepted> {
    return this.service.resume(this.id);
  }

  message(text: string): Promise<Accepted> {
    return this.service.message(this.id, text);
  }

  approve(approvalId: string, answer: ApprovalRequest): Promise<ApprovalAnswer> {
    return this.service.approve(this.id, approvalId, answer);
  }

  answer(questionId: string, answer: string): Promise<QuestionAnswer> {
    return this.service.answer(this.id, questionId, answer);
  }

  diff(): Promise<DiffAnswer> {
    return this.service.diff(this.id);
  }

  hunks(request: HunkRequest): Promise<DiffAnswer> {
    return this.service.hunks(this.id, request);
  }

  rewind(seq: number, options?: Omit<RewindRequest, "seq">): Promise<RewindAnswer> {
    return this.service.rewind(this.id, seq, options);
  }

  fork(request?: ForkRequest): Promise<TaskHandle> {
    return this.service.fork(this.id, request);
  }
}
