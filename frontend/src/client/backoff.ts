/** How long to wait before try number `attempt` (from 1): doubling up to a limit, with jitter so that many who lost
 * the sidecar together do not come back together. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const longest = Math.min(3_000, 150 * 2 ** (attempt - 1));
  return longest * (0.5 + random() / 2);
}

/** Waits, unless the signal ends it, or the browser says that now is a good moment to look again. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", over);
      if (typeof window !== "undefined") {
        window.removeEventListener("online", over);
        document.removeEventListener("visibilitychange", seen);
      }
      resolve();
    };
    const seen = () => {
      if (document.visibilityState === "visible") over();
    };
    const timer = setTimeout(over, ms);
    if (signal?.aborted) over();
    signal?.addEventListener("abort", over);
    if (typeof window !== "undefined") {
      window.addEventListener("online", over);
      document.addEventListener("visibilitychange", seen);
    }
  });
}
