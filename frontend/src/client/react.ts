import { useCallback, useEffect, useId, useMemo, useState, useSyncExternalStore } from "react";
import type { ExecuteRequest } from "../wire/types.ts";
import type { WatchRegistry } from "./registry.ts";
import type { BrainService } from "./service.ts";
import type { TaskList } from "./tasks.ts";
import type { Thread } from "./thread.ts";
import { TaskWatch, type Watched } from "./watch.ts";

export interface BrainTask {
  /** Undefined until the first `execute`. */
  readonly task: Thread | undefined;
  readonly execute: (words: string, options?: ExecuteRequest["options"]) => Promise<void>;
  readonly cancel: () => Promise<void>;
  readonly resume: () => Promise<void>;
}

/** One task after another in a component: start it, watch it, cancel and resume it. */
export function useBrainTask(service: BrainService): BrainTask {
  const [watch, setWatch] = useState<TaskWatch>();
  useEffect(() => {
    watch?.start();
    return () => watch?.stop();
  }, [watch]);
  const task = useSyncExternalStore(watch?.subscribe ?? never, () => watch?.snapshot().thread);
  const execute = useCallback(
    async (words: string, options?: ExecuteRequest["options"]) =>
      setWatch(new TaskWatch(service, (await service.execute(words, options)).id)),
    [service],
  );
  const cancel = useCallback(async () => {
    if (watch) await service.cancel(watch.taskId);
  }, [service, watch]);
  const resume = useCallback(async () => {
    if (!watch) return;
    await service.resume(watch.taskId);
    watch.start(); // its stream closed when the task ended
  }, [service, watch]);
  return { task, execute, cancel, resume };
}

const never = () => () => {};

/** A task, kept up to date while the component is mounted. */
export function useTask(registry: WatchRegistry, taskId: string): Watched {
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
