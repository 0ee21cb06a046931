import type { WireEvent } from "../wire/types.ts";
import type { BrainService } from "./service.ts";
import { TaskFeed } from "./tasks.ts";
import { TaskWatch } from "./watch.ts";

/** How many tasks without followers stay in memory, so that going back to one is instant. */
const MOST_IDLE = 4;

interface Entry {
  readonly watch: TaskWatch;
  readonly followers: Set<string>;
}

/**
 * Knows which tasks are followed, and by whom. A task's first follower opens its stream, its last one closes it. The
 * stream of an ended task closes by itself; when the feed of all tasks shows that the task continues (resumed, steered,
 * rewound, here or elsewhere), the registry opens it again.
 */
export class WatchRegistry {
  readonly feed: TaskFeed;
  readonly #entries = new Map<string, Entry>();
  #paused = false;

  constructor(readonly service: BrainService) {
    this.feed = new TaskFeed(service);
    this.feed.onEvents((events) => this.#restart(events));
  }

  /** The store of a task; it stays the same object while the task has followers. */
  watch(taskId: string): TaskWatch {
    return this.#entry(taskId).watch;
  }

  /** Follows a task until the returned function is called. */
  follow(taskId: string, follower: string): () => void {
    const { watch, followers } = this.#entry(taskId);
    followers.add(follower);
    if (!this.#paused) watch.start();
    return () => {
      followers.delete(follower);
      if (followers.size === 0) watch.stop();
      this.#evict();
    };
  }

  /** The followed tasks, each with its followers. */
  followed(): ReadonlyMap<string, readonly string[]> {
    const active = [...this.#entries].filter(([, { followers }]) => followers.size > 0);
    return new Map(active.map(([taskId, { followers }]) => [taskId, [...followers]]));
  }

  /** Lets go of every connection, except, if wanted, that of the feed. */
  pause({ keepFeed = false } = {}): void {
    this.#paused = true;
    for (const { watch } of this.#entries.values()) watch.stop();
    if (!keepFeed) this.feed.stop();
  }

  /** Takes every connection up again, where it was. */
  resume(): void {
    this.#paused = false;
    for (const { watch, followers } of this.#entries.values()) if (followers.size > 0) watch.start();
    this.feed.start();
  }

  #entry(taskId: string): Entry {
    const entry = this.#entries.get(taskId) ?? { watch: new TaskWatch(this.service, taskId), followers: new Set() };
    // Last in the map is last used.
    this.#entries.delete(taskId);
    this.#entries.set(taskId, entry);
    return entry;
  }

  #evict(): void {
    const idle = [...this.#entries].filter(([, { followers }]) => followers.size === 0);
    for (const [taskId] of idle.slice(0, -MOST_IDLE)) this.#entries.delete(taskId);
  }

  #restart(events: readonly WireEvent[]): void {
    if (this.#paused) return;
    for (const { taskId, seq } of events) {
      const entry = this.#entries.get(taskId);
      if (entry === undefined || entry.followers.size === 0 || entry.watch.running) continue;
      if ((seq ?? 0) > entry.watch.snapshot().thread.lastSeq) entry.watch.start();
    }
  }
}
