import { useEffect, useId, useMemo, useSyncExternalStore } from "react";
import type { WatchRegistry } from "./registry.ts";
import type { TaskList } from "./tasks.ts";
import type { Watched } from "./watch.ts";

/** A task, kept up to date while the component is mounted. */
export function useBrainTask(registry: WatchRegistry, taskId: string): Watched {
  const follower = useId();
  const watch = useMemo(() => registry.watch(taskId), [registry, taskId]);
  useEffect(() => registry.follow(taskId, follower), [registry, taskId, follower]);
  return useSyncExternalStore(watch.subscribe, watch.snapshot, watch.snapshot);
}

/** The tasks, newest first, kept up to date while the component is mounted. */
export function useTasks({ feed }: WatchRegistry): TaskList {
  return useSyncExternalStore(feed.subscribe, feed.snapshot, feed.snapshot);
}

const HIDDEN_MS = 5_000;

/**
 * Pauses the registry while the page is hidden: a browser gives all its tabs six connections to one server, and each
 * stream holds one. `keepFeed` keeps the feed of all tasks, for notifications.
 */
export function usePauseWhileHidden(registry: WatchRegistry, keepFeed: boolean): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = () => {
      clearTimeout(timer);
      if (document.visibilityState === "hidden") timer = setTimeout(() => registry.pause({ keepFeed }), HIDDEN_MS);
      else registry.resume();
    };
    document.addEventListener("visibilitychange", update);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", update);
    };
  }, [registry, keepFeed]);
}
