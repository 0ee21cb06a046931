/** The delay before attempt number `attempt` (from 1): doubles up to a limit, with jitter so that clients that lost the
 * sidecar together don't reconnect together. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const limit = Math.min(3_000, 150 * 2 ** (attempt - 1));
  return limit * (0.5 + random() / 2);
}

/** Waits. Ends early when the signal aborts, the browser comes online or the page becomes visible. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      if (typeof window !== "undefined") {
        window.removeEventListener("online", finish);
        document.removeEventListener("visibilitychange", onVisible);
      }
      resolve();
    };
    const onVisible = () => {
      if (document.visibilityState === "visible") finish();
    };
    const timer = setTimeout(finish, ms);
    if (signal?.aborted) finish();
    signal?.addEventListener("abort", finish);
    if (typeof window !== "undefined") {
      window.addEventListener("online", finish);
      document.addEventListener("visibilitychange", onVisible);
    }
  });
}
