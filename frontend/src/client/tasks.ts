import type { Task, WireEvent } from "../wire/types.ts";
import { backoffMs, pause } from "./backoff.ts";
import type { Connection } from "./follow.ts";
import { nextFrame } from "./frames.ts";
import { isGone, isNotFound, isTransient } from "./problem.ts";
import type { BrainService } from "./service.ts";
import { hasEnded } from "./statuses.ts";

export interface TaskList {
  /** Newest first. */
  readonly tasks: readonly Task[];
  /** False until the first answer. */
  readonly loaded: boolean;
  readonly hasMore: boolean;
  readonly connection: Connection;
  /** An error that a retry cannot fix, such as a session that is over. */
  readonly failure: unknown;
}

const PAGE = 50;
/** Above this many unknown tasks at once, reloading the list costs less than asking for each. */
const MOST_SINGLE_LOADS = 10;

/** The list after an event. The same array if the event changes nothing that a task shows. */
export function reduceTasks(tasks: readonly Task[], event: WireEvent): readonly Task[] {
  const place = tasks.findIndex((task) => task.id === event.taskId);
  const task = tasks[place];
  const next = task && reduceTask(task, event);
  return next === undefined || next === task ? tasks : tasks.with(place, next);
}

function reduceTask(task: Task, event: WireEvent): Task {
  if (event.seq === undefined || event.seq <= task.lastSeq) return task;
  const change = changeOf(task, event);
  return change === undefined ? task : { ...task, ...change, lastSeq: event.seq };
}

function changeOf(task: Task, event: WireEvent): Partial<Task> | undefined {
  switch (event.type) {
    case "status":
      return {
        status: event.status,
        startedAt: task.startedAt ?? (event.status === "running" ? event.at : null),
        endedAt: hasEnded(event.status) ? event.at : null,
      };
    case "label": {
      const { title, pinned, archived } = event;
      return {
        ...(title === undefined ? {} : { title }),
        ...(pinned === undefined ? {} : { pinned }),
        ...(archived === undefined ? {} : { archived }),
      };
    }
    case "usage": {
      const { inputTokens, outputTokens, cachedTokens, costUsd } = event;
      return { usage: { inputTokens, outputTokens, cachedTokens, costUsd } };
    }
    case "route":
      return { intent: event.intent, pipeline: event.pipeline };
    case "step":
      return { progress: { step: event.step, total: event.total, message: event.message } };
    case "verification":
      return { verified: event.passed };
    case "worktree":
      return { ...(event.combined ? { verified: null } : {}) };
    case "diff":
      // Checks that ran before an edit prove nothing about it.
      return task.verified === null ? undefined : { verified: null };
    default:
      return undefined;
  }
}

/** The list with a task as the sidecar has it now, in its place. */
export function upsert(tasks: readonly Task[], task: Task): readonly Task[] {
  const place = tasks.findIndex((one) => one.id === task.id);
  if (place >= 0) return tasks[place]!.lastSeq > task.lastSeq ? tasks : tasks.with(place, task);
  return [...tasks, task].sort((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt));
}

/**
 * The tasks as a store. It follows the stream of all tasks while it has subscribers, and loads the list once; it asks
 * again only for tasks that it doesn't know and for those that have just ended.
 */
export class TaskFeed {
  #list: TaskList = {
    tasks: [],
    loaded: false,
    hasMore: false,
    connection: { state: "connecting" },
    failure: undefined,
  };
  #listeners = new Set<() => void>();
  #eventListeners = new Set<(events: readonly WireEvent[]) => void>();
  #stop: AbortController | undefined;
  #cursor: string | undefined;
  #pages = 1;
  #stale = new Set<string>();
  #cancelFrame: (() => void) | undefined;

  constructor(private readonly service: BrainService) {}

  readonly snapshot = (): TaskList => this.#list;

  /** The first subscriber starts the feed, the last one stops it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.stop();
    };
  };

  /** Calls back with every batch of durable events, of whichever tasks. */
  onEvents(listener: (events: readonly WireEvent[]) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  start(): void {
    if (this.#stop !== undefined || this.#listeners.size === 0) return;
    const stop = new AbortController();
    this.#stop = stop;
    void this.#run(stop.signal).finally(() => {
      if (this.#stop === stop) this.#stop = undefined;
    });
  }

  /** Lets go of the connection; `start` resumes where it was. */
  stop(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
  }

  /** Forgets a task that was deleted. */
  forget(taskId: string): void {
    this.#publish({ tasks: this.#list.tasks.filter((task) => task.id !== taskId) });
  }

  async more(): Promise<void> {
    this.#pages += 1;
    await this.#load();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const onConnection = (connection: Connection) => {
      if (signal.aborted) return;
      this.#publish({ connection, failure: undefined });
      // A stream without a cursor starts now. The list, loaded after that, has everything before.
      if (connection.state === "live" && this.#cursor === undefined) void this.#loadWithRetries(signal);
    };
    while (!signal.aborted) {
      const options = { signal, onConnection, ...(this.#cursor === undefined ? {} : { after: this.#cursor }) };
      try {
        for await (const { events, cursor } of this.service.allEvents(options)) {
          if (signal.aborted) return;
          this.#cursor = cursor ?? this.#cursor;
          this.#receive(events);
        }
      } catch (failure) {
        if (signal.aborted) return;
        if (!isGone(failure)) return this.#publish({ connection: { state: "closed" }, failure });
        // The journal has pruned events after the cursor: start over.
        this.#cursor = undefined;
        this.#list = { ...this.#list, tasks: [] };
      }
    }
  }

  async #loadWithRetries(signal: AbortSignal): Promise<void> {
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        return await this.#load(signal);
      } catch (failure) {
        if (signal.aborted) return;
        if (!isTransient(failure)) return this.#publish({ failure });
        await pause(backoffMs(attempt), signal);
      }
    }
  }

  async #load(signal?: AbortSignal): Promise<void> {
    let tasks: readonly Task[] = [];
    let before: string | null | undefined;
    for (let page = 0; page < this.#pages && before !== null; page += 1) {
      const query = { limit: PAGE, ...(before === undefined ? {} : { before }) };
      const found = await this.service.tasks(query, signal);
      tasks = [...tasks, ...found.tasks];
      before = found.nextBefore;
    }
    // Events may have come meanwhile: the newer state of each task stays.
    this.#publish({ tasks: tasks.reduce(upsert, this.#list.tasks), loaded: true, hasMore: before !== null });
  }

  #receive(events: readonly WireEvent[]): void {
    const known = new Set(this.#list.tasks.map((task) => task.id));
    for (const event of events)
      if (!known.has(event.taskId) || (event.type === "status" && hasEnded(event.status)))
        this.#stale.add(event.taskId);
    for (const listener of this.#eventListeners) listener(events);
    const tasks = events.reduce(reduceTasks, this.#list.tasks);
    // Most events, such as tool calls, change nothing that the list shows.
    if (tasks === this.#list.tasks && this.#stale.size === 0) return;
    this.#list = { ...this.#list, tasks };
    this.#cancelFrame ??= nextFrame(() => {
      this.#cancelFrame = undefined;
      this.#publish({});
      void this.#loadStale();
    });
  }

  async #loadStale(): Promise<void> {
    const ids = [...this.#stale];
    this.#stale.clear();
    try {
      if (ids.length > MOST_SINGLE_LOADS) return await this.#load();
      const loaded = await Promise.all(ids.map((id) => this.service.task(id).catch(ignoreNotFound)));
      const found = loaded.filter((task) => task !== undefined);
      if (found.length > 0) this.#publish({ tasks: found.reduce(upsert, this.#list.tasks) });
    } catch {
      // The connection is gone: ask again with the next event.
      for (const id of ids) this.#stale.add(id);
    }
  }

  #publish(change: Partial<TaskList>): void {
    this.#list = { ...this.#list, ...change };
    for (const listener of this.#listeners) listener();
  }
}

function ignoreNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
