import { useEffect, useMemo, useSyncExternalStore } from "react";
import { type TaskList, TaskLists } from "./lists.ts";
import type { BrainService } from "./service.ts";
import { TaskWatch, type Watched } from "./watch.ts";

export interface WatchedTask extends Watched {
  /** Follows the task again after it was resumed or continued. */
  readonly again: () => void;
}

export interface WatchOptions {
  /** Goes on while nobody looks, for whoever wants to be told of what happens then. */
  readonly whileHidden?: boolean;
}

/** A task, as it is now and as it goes on. Stops watching when the component goes. */
export function useBrainTask(
  service: BrainService,
  taskId: string,
  { whileHidden = false }: WatchOptions = {},
): WatchedTask {
  const watch = useMemo(() => new TaskWatch(service, taskId), [service, taskId]);
  useEffect(() => {
    watch.start();
    return () => watch.stop();
  }, [watch]);
  useEffect(() => (whileHidden ? undefined : stopWhileHidden(watch)), [watch, whileHidden]);
  const seen = useSyncExternalStore(watch.subscribe, watch.snapshot, watch.snapshot);
  return useMemo(() => ({ ...seen, again: () => watch.start() }), [seen, watch]);
}

export interface TaskListAndMore extends TaskList {
  readonly look: () => void;
  readonly more: () => void;
}

/** The tasks, newest first. */
export function useTasks(service: BrainService): TaskListAndMore {
  const lists = useMemo(() => new TaskLists(service), [service]);
  const list = useSyncExternalStore(lists.subscribe, lists.snapshot, lists.snapshot);
  return useMemo(() => ({ ...list, look: () => void lists.look(), more: () => void lists.more() }), [list, lists]);
}

const HIDDEN_MS = 20_000;

/**
 * A browser gives all its tabs six connections to one server, and a stream holds one. Tabs that nobody looks at let go
 * of theirs, and take it up again, where it was, when they are looked at.
 */
function stopWhileHidden(watch: TaskWatch): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (document.visibilityState === "hidden") timer = setTimeout(() => watch.stop(), HIDDEN_MS);
    else watch.start();
  };
  document.addEventListener("visibilitychange", look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}
