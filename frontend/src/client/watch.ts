import type { WireEvent } from "../wire/types.ts";
import type { Connection } from "./follow.ts";
import { reconnected, reduceAll, release } from "./reduce.ts";
import type { BrainService } from "./service.ts";
import { emptyThread, type Thread } from "./thread.ts";

export interface Watched {
  readonly thread: Thread;
  readonly connection: Connection;
  /** What trying again cannot mend: the task is gone, or the session is over. */
  readonly failure: unknown;
}

/** As many events at once are not told one frame after the other: the rest of a long past is about to follow. */
const BACKLOG = 200;
/** How long those who listen wait for it. */
const BACKLOG_MS = 600;

/** A task as somebody watches it. However fast events come, those who listen are told at most once a frame. */
export class TaskWatch {
  #seen: Watched;
  /** What there is to tell; ahead of what was told while a long past is being read. */
  #thread: Thread;
  #waitingSince: number | undefined;
  #pending: WireEvent[] = [];
  #listeners = new Set<() => void>();
  #stop: AbortController | undefined;
  #told: (() => void) | undefined;

  constructor(
    private readonly service: BrainService,
    readonly taskId: string,
  ) {
    this.#thread = emptyThread(taskId);
    this.#seen = { thread: this.#thread, connection: { state: "connecting" }, failure: undefined };
  }

  readonly snapshot = (): Watched => this.#seen;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Begins, or goes on after the task was taken up again. Does nothing while it is at it. */
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
    this.#told?.();
    this.#told = undefined;
  }

  async #run(stop: AbortController): Promise<void> {
    const onConnection = (connection: Connection) => {
      if (stop.signal.aborted) return;
      this.#take();
      if (connection.state === "live") this.#thread = reconnected(this.#thread);
      this.#tell({ connection, failure: undefined });
    };
    try {
      const after = this.#thread.lastSeq;
      for await (const batch of this.service.stream(this.taskId, { after, signal: stop.signal, onConnection })) {
        if (stop.signal.aborted) return;
        this.#pending.push(...batch);
        this.#soon();
      }
    } catch (failure) {
      if (!stop.signal.aborted) this.#tell({ connection: { state: "closed" }, failure });
    }
  }

  #soon(): void {
    this.#told ??= nextFrame(() => {
      this.#told = undefined;
      this.#flush();
    });
  }

  #flush(): void {
    const many = this.#take() >= BACKLOG;
    if (many) this.#waitingSince ??= performance.now();
    if (many && performance.now() - this.#waitingSince! < BACKLOG_MS) return this.#soon();
    if (this.#thread !== this.#seen.thread) this.#tell({});
  }

  /** Takes in what has come; how many events that was. */
  #take(): number {
    const batch = this.#pending;
    this.#pending = [];
    // A connection tells events in order: what is missing there is missing in the journal.
    if (batch.length > 0) this.#thread = release(reduceAll(this.#thread, batch));
    return batch.length;
  }

  #tell(more: Partial<Watched>): void {
    this.#waitingSince = undefined;
    this.#seen = { ...this.#seen, ...more, thread: this.#thread };
    for (const listener of this.#listeners) listener();
  }
}

/** The next frame; where none come (a hidden tab, no browser) soon all the same. Returns what calls it off. */
function nextFrame(act: () => void): () => void {
  const framed = typeof requestAnimationFrame === "function";
  const timer = setTimeout(go, framed ? 200 : 0);
  const frame = framed ? requestAnimationFrame(go) : 0;
  function off() {
    clearTimeout(timer);
    if (framed) cancelAnimationFrame(frame);
  }
  function go() {
    off();
    act();
  }
  return off;
}
