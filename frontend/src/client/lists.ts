import type { Task } from "../wire/types.ts";
import type { BrainService } from "./service.ts";
import { isActive } from "./statuses.ts";

export interface TaskList {
  readonly tasks: readonly Task[];
  /** False until the first answer. */
  readonly loaded: boolean;
  readonly failure: unknown;
  readonly hasMore: boolean;
}

const BUSY_MS = 2_000;
const IDLE_MS = 4_000;
const PAGE = 50;

/** The tasks, newest first, kept up to date as long as somebody listens. */
export class TaskLists {
  #list: TaskList = { tasks: [], loaded: false, failure: undefined, hasMore: false };
  #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #looking: Promise<void> | undefined;
  #pages = 1;

  constructor(private readonly service: BrainService) {}

  readonly snapshot = (): TaskList => this.#list;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) void this.look();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) clearTimeout(this.#timer);
    };
  };

  more(): Promise<void> {
    this.#pages += 1;
    return this.look();
  }

  /** Looks now; whoever asks while it looks gets the same answer. */
  look(): Promise<void> {
    clearTimeout(this.#timer);
    this.#looking ??= this.#read().finally(() => {
      this.#looking = undefined;
      if (this.#listeners.size === 0) return;
      const busy = this.#list.failure !== undefined || this.#list.tasks.some((task) => isActive(task.status));
      this.#timer = setTimeout(() => void this.look(), busy ? BUSY_MS : IDLE_MS);
    });
    return this.#looking;
  }

  async #read(): Promise<void> {
    try {
      const tasks: Task[] = [];
      let before: string | null | undefined;
      for (let page = 0; page < this.#pages && before !== null; page += 1) {
        const found = await this.service.tasks({ limit: PAGE, ...(before === undefined ? {} : { before }) });
        tasks.push(...found.tasks);
        before = found.nextBefore;
      }
      this.#tell({ tasks: kept(this.#list.tasks, tasks), loaded: true, failure: undefined, hasMore: before !== null });
    } catch (failure) {
      this.#tell({ ...this.#list, failure });
    }
  }

  #tell(list: TaskList): void {
    const before = this.#list;
    if (list.tasks === before.tasks && list.loaded === before.loaded && list.failure === before.failure) {
      if (list.hasMore === before.hasMore) return;
    }
    this.#list = list;
    for (const listener of this.#listeners) listener();
  }
}

/** The same array if nothing changed, so that nobody draws it again. */
function kept(before: readonly Task[], now: readonly Task[]): readonly Task[] {
  const same = (task: Task, place: number) => {
    const other = before[place];
    return other?.id === task.id && other.lastSeq === task.lastSeq && other.status === task.status;
  };
  return before.length === now.length && now.every(same) ? before : now;
}
