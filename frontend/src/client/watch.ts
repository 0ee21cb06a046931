import type { WireEvent } from "../wire/types.ts";
import type { Connection } from "./follow.ts";
import { nextFrame } from "./frames.ts";
import { beginConnection, reduceAll, releaseHeld } from "./reduce.ts";
import type { BrainService } from "./service.ts";
import { emptyThread, type Thread } from "./thread.ts";

export interface Watched {
  readonly thread: Thread;
  readonly connection: Connection;
  /** An error that a retry cannot fix: the task does not exist, or the session is over. */
  readonly failure: unknown;
}

/** A batch of at least this many events is part of a replay: more of it is about to arrive. */
const BACKLOG = 200;
/** How long a replay may hold back the next update. */
const BACKLOG_MS = 600;

/** A task as a store: it follows the task's stream, and updates its subscribers at most once a frame. */
export class TaskWatch {
  #snapshot: Watched;
  /** Ahead of the snapshot while a replay is being read. */
  #thread: Thread;
  #heldBackSince: number | undefined;
  #pending: WireEvent[] = [];
  #listeners = new Set<() => void>();
  #stop: AbortController | undefined;
  #cancelFrame: (() => void) | undefined;

  constructor(
    private readonly service: BrainService,
    readonly taskId: string,
  ) {
    this.#thread = emptyThread(taskId);
    this.#snapshot = { thread: this.#thread, connection: { state: "connecting" }, failure: undefined };
  }

  readonly snapshot = (): Watched => this.#snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get running(): boolean {
    return this.#stop !== undefined;
  }

  /** Starts following, or resumes after the last event seen. Does nothing while it is running. */
  start(): void {
    if (this.#stop !== undefined) return;
    const stop = new AbortController();
    this.#stop = stop;
    void this.#run(stop).finally(() => {
      if (this.#stop === stop) this.#stop = undefined;
    });
  }

  stop(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
  }

  async #run(stop: AbortController): Promise<void> {
    const onConnection = (connection: Connection) => {
      if (stop.signal.aborted) return;
      this.#reducePending();
      if (connection.state === "live") this.#thread = beginConnection(this.#thread);
      this.#publish({ connection, failure: undefined });
    };
    try {
      const after = this.#thread.lastSeq;
      for await (const batch of this.service.follow(this.taskId, { after, signal: stop.signal, onConnection })) {
        if (stop.signal.aborted) return;
        this.#pending.push(...batch);
        this.#schedule();
      }
    } catch (failure) {
      if (!stop.signal.aborted) this.#publish({ connection: { state: "closed" }, failure });
    }
  }

  #schedule(): void {
    this.#cancelFrame ??= nextFrame(() => {
      this.#cancelFrame = undefined;
      this.#flush();
    });
  }

  #flush(): void {
    const replaying = this.#reducePending() >= BACKLOG;
    if (replaying) this.#heldBackSince ??= performance.now();
    if (replaying && performance.now() - this.#heldBackSince! < BACKLOG_MS) return this.#schedule();
    if (this.#thread !== this.#snapshot.thread) this.#publish({});
  }

  /** Returns how many events were pending. */
  #reducePending(): number {
    const batch = this.#pending;
    this.#pending = [];
    // A connection delivers events in order: an event that is missing here is missing in the journal.
    if (batch.length > 0) this.#thread = releaseHeld(reduceAll(this.#thread, batch));
    return batch.length;
  }

  #publish(change: Partial<Watched>): void {
    this.#heldBackSince = undefined;
    this.#snapshot = { ...this.#snapshot, ...change, thread: this.#thread };
    for (const listener of this.#listeners) listener();
  }
}
