import { useCallback } from "react";
import { hasEnded, type WatchRegistry } from "../../client/index.ts";
import { showError, showToast } from "../stores/toasts.ts";

/** How long a cancelled task may take to stop. */
const STOP_MS = 30_000;

/**
 * Takes a message of yours and everything after it back, files too, and sends another text in its place. A task at work
 * is cancelled first.
 */
export function useResend(registry: WatchRegistry, taskId: string): (seq: number, text: string) => void {
  return useCallback(
    (seq: number, text: string) => {
      const { service } = registry;
      const resend = async () => {
        const watch = registry.watch(taskId);
        if (!hasEnded(watch.snapshot().thread.status)) {
          await service.cancel(taskId);
          await ended(watch);
        }
        const { notRestored, conflicts } = await service.rewind(taskId, seq - 1);
        const kept = [...notRestored, ...conflicts].map(({ path }) => path);
        if (kept.length > 0)
          showToast(`Left as they are, because you or another program changed them: ${kept.join(", ")}`);
        await service.message(taskId, text);
      };
      void resend().catch(showError);
    },
    [registry, taskId],
  );
}

function ended(watch: ReturnType<WatchRegistry["watch"]>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => finish(new Error("The task does not stop. Cancel it, then send again.")), STOP_MS);
    const stop = watch.subscribe(() => hasEnded(watch.snapshot().thread.status) && finish());
    const finish = (error?: Error) => {
      clearTimeout(timer);
      stop();
      if (error) reject(error);
      else resolve();
    };
  });
}
