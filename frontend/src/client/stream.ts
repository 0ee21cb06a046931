import type { CompleteEvent, ErrorEvent, StepEvent, WireEvent } from "../wire/types.ts";
import type { BrainService } from "./service.ts";

export interface StreamCallbacks {
  /** Every event, live ones too. */
  readonly onUpdate?: (event: WireEvent) => void;
  readonly onStep?: (event: StepEvent) => void;
  readonly onComplete?: (result: CompleteEvent["result"]) => void;
  /** The task failed, or its events can't be read any more. */
  readonly onError?: (error: ErrorEvent | Error) => void;
}

/** Follows a task in the background. Nothing is called after the result was. */
export function subscribe(service: BrainService, taskId: string, callbacks: StreamCallbacks): () => void {
  const stop = new AbortController();
  const read = async () => {
    for await (const batch of service.follow(taskId, { signal: stop.signal })) {
      for (const event of batch) {
        if (stop.signal.aborted) return;
        callbacks.onUpdate?.(event);
        if (event.type === "step") callbacks.onStep?.(event);
        else if (event.type === "complete") callbacks.onComplete?.(event.result);
        else if (event.type === "error") callbacks.onError?.(event);
      }
    }
  };
  read().catch((error: unknown) => {
    if (!stop.signal.aborted) callbacks.onError?.(error instanceof Error ? error : new Error(String(error)));
  });
  return () => stop.abort();
}
