import type { Status, Task, WireEvent } from "../wire/types.ts";
import { backoffMs, pause } from "./backoff.ts";
import type { Http } from "./http.ts";
import { isTransient, ProblemError } from "./problem.ts";
import { type EventBatch, readEvents } from "./sse.ts";
import { hasEnded } from "./statuses.ts";

export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "lost"; readonly attempt: number; readonly nextTryMs: number }
  | { readonly state: "closed" };

export interface FollowOptions {
  /** Start after this event: a task's sequence number, or a cursor of the stream of all tasks. */
  readonly after?: number | string;
  readonly signal?: AbortSignal;
  readonly onConnection?: (connection: Connection) => void;
}

/** The sidecar sends a comment every 15 s; a connection that is silent for longer than this is dead. */
const IDLE_MS = 45_000;

/** Follows one task until it ends. Each batch holds its durable events in order, and the live ones between them. */
export async function* followTask(
  http: Http,
  taskId: string,
  options: FollowOptions = {},
): AsyncGenerator<WireEvent[], void> {
  const path = `/api/brain/tasks/${encodeURIComponent(taskId)}`;
  let status: Status | undefined;
  // The stream closes after the last event of an ended task, or when the sidecar stops.
  const isOver = async (signal: AbortSignal) => {
    const last = status ?? (await http.json<Task>(path, { signal })).status;
    status = undefined;
    return hasEnded(last);
  };
  for await (const { events } of follow(http, `${path}/stream`, options, isOver)) {
    for (const event of events) if (event.type === "status") status = event.status;
    yield events;
  }
}

/** Follows the durable events of all tasks until the signal stops it. Without `after`, only new events. */
export function followAll(http: Http, options: FollowOptions = {}): AsyncGenerator<EventBatch, void> {
  const path = `/api/brain/events${options.after === undefined ? "?after=now" : ""}`;
  return follow(http, path, options, async () => false);
}

/**
 * Reads a stream through as many connections as it takes. Each new connection resumes after the last event seen, so
 * there is no gap and no repeat. Throws only errors that a retry cannot fix.
 */
async function* follow(
  http: Http,
  path: string,
  { after, signal, onConnection = () => {} }: FollowOptions,
  isOver: (signal: AbortSignal) => Promise<boolean>,
): AsyncGenerator<EventBatch, void> {
  let cursor = after === undefined || after === 0 ? undefined : String(after);
  let attempt = 0;
  onConnection({ state: "connecting" });
  while (!signal?.aborted) {
    const idle = new IdleTimeout(signal);
    let retryAfterMs = 0;
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (cursor !== undefined) headers["Last-Event-ID"] = cursor;
      const response = await http.open(path, { headers, signal: idle.signal });
      onConnection({ state: "live" });
      for await (const batch of readEvents(response.body!, idle.restart)) {
        attempt = 0;
        cursor = batch.cursor ?? cursor;
        yield batch;
      }
      if (await isOver(idle.signal)) break;
    } catch (error) {
      if (signal?.aborted) break;
      if (error instanceof ProblemError && !isTransient(error)) throw error;
      if (error instanceof ProblemError) retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000;
    } finally {
      idle.end();
    }
    http.doubt();
    attempt += 1;
    const nextTryMs = Math.max(backoffMs(attempt), retryAfterMs);
    onConnection({ state: "lost", attempt, nextTryMs });
    await pause(nextTryMs, signal);
  }
  onConnection({ state: "closed" });
}

/** Aborts when nothing arrives for too long, or when the outer signal aborts. */
class IdleTimeout {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly outer: AbortSignal | undefined) {
    outer?.addEventListener("abort", this.#abort);
    if (outer?.aborted) this.#abort();
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly restart = (): void => {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#abort, IDLE_MS);
  };

  end(): void {
    clearTimeout(this.#timer);
    this.outer?.removeEventListener("abort", this.#abort);
    this.#abort();
  }

  readonly #abort = (): void => this.#controller.abort();
}
