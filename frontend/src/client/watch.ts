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

/** A task as somebody watches it. However fast events come, those who listen are told at most once a frame. */
export class TaskWatch {
  #seen: Watched;
  #pending: WireEvent[] = [];
  #listeners = new Set<() => void>();
  #stop: AbortController | undefined;
  #told: (() => void) | undefined;

  constructor(
    private readonly service: BrainService,
    readonly taskId: string,
  ) {
    this.#seen = { thread: emptyThread(taskId), connection: { state: "connecting" }, failure: undefined };
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
      this.#flush();
      const thread = connection.state === "live" ? reconnected(this.#seen.thread) : this.#seen.thread;
      this.#tell({ thread, connection, failure: undefined });
    };
    try {
      const after = this.#seen.thread.lastSeq;
      for await (const batch of this.service.stream(this.taskId, { after, signal: stop.signal, onConnection })) {
        if (stop.signal.aborted) return;
        this.#pending.push(...batch);
        this.#soon();
      }
    } catch (failure) {
      if (!stop.signal.aborted) this.#tell({ ...this.#seen, connection: { state: "closed" }, failure });
    }
  }

  #soon(): void {
    this.#told ??= nextFrame(() => {
      this.#told = undefined;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#pending.length === 0) return;
    const batch = this.#pending;
    this.#pending = [];
    // A connection tells events in order: what is missing there is missing in the journal.
    const thread = release(reduceAll(this.#seen.thread, batch));
    if (thread !== this.#seen.thread) this.#tell({ ...this.#seen, thread });
  }

  #tell(seen: Watched): void {
    this.#seen = seen;
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
