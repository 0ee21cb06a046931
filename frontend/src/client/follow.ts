import type { Status, Task, WireEvent } from "../wire/types.ts";
import { backoffMs, pause } from "./backoff.ts";
import type { Http } from "./http.ts";
import { isTransient, ProblemError } from "./problem.ts";
import { eventsOf } from "./sse.ts";
import { hasEnded } from "./statuses.ts";

export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "lost"; readonly attempt: number; readonly nextTryMs: number }
  | { readonly state: "closed" };

export interface FollowOptions {
  /** Only what comes after this sequence number. */
  readonly after?: number;
  readonly signal?: AbortSignal;
  readonly onConnection?: (connection: Connection) => void;
}

/** The sidecar sends a comment every 15 s; a connection that is silent for longer than this is dead. */
const SILENCE_MS = 45_000;

/**
 * A task's events until it has ended, through as many connections as that takes. Each new connection asks for what
 * comes after the last event seen, so there is no gap and no repeat. Throws only what trying again cannot mend.
 */
export async function* follow(http: Http, taskId: string, options: FollowOptions = {}): AsyncGenerator<WireEvent[]> {
  const { signal, onConnection = () => {} } = options;
  const path = `/api/brain/tasks/${encodeURIComponent(taskId)}`;
  let after = options.after ?? 0;
  let status: Status | undefined;
  let attempt = 0;
  onConnection({ state: "connecting" });
  while (!signal?.aborted) {
    const silence = new Silence(signal);
    let retryAfterMs = 0;
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (after > 0) headers["Last-Event-ID"] = String(after);
      const response = await http.open(`${path}/stream`, { headers, signal: silence.signal });
      onConnection({ state: "live" });
      for await (const batch of eventsOf(response.body!, silence.heard)) {
        attempt = 0;
        for (const event of batch) {
          if (event.seq !== undefined) after = event.seq;
          if (event.type === "status") status = event.status;
        }
        yield batch;
      }
      // The body ended: the task has ended, or the sidecar let go of us.
      status ??= (await http.json<Task>(path, { signal: silence.signal })).status;
      if (hasEnded(status)) break;
    } catch (error) {
      if (signal?.aborted) break;
      if (error instanceof ProblemError && !isTransient(error)) throw error;
      if (error instanceof ProblemError) retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000;
    } finally {
      silence.end();
    }
    attempt += 1;
    status = undefined;
    const nextTryMs = Math.max(backoffMs(attempt), retryAfterMs);
    onConnection({ state: "lost", attempt, nextTryMs });
    await pause(nextTryMs, signal);
  }
  onConnection({ state: "closed" });
}

/** Aborts when nothing was heard for too long, or when the reader is told to stop. */
class Silence {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly outer: AbortSignal | undefined) {
    outer?.addEventListener("abort", this.#abort);
    if (outer?.aborted) this.#abort();
    this.heard();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly heard = (): void => {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#abort, SILENCE_MS);
  };

  end(): void {
    clearTimeout(this.#timer);
    this.outer?.removeEventListener("abort", this.#abort);
    this.#abort();
  }

  readonly #abort = (): void => this.#controller.abort();
}
