import type { BrainService } from "../../client/index.ts";
import { Store, useStore } from "./store.ts";

const read = (): string | undefined => /^#task=([\w-]+)$/.exec(window.location.hash)?.[1];

interface Location {
  readonly taskId: string | undefined;
  /** You chose this task, or chose to start a new one. */
  readonly chosen: boolean;
}

const store = new Store<Location, Partial<Location>>({ taskId: undefined, chosen: false }, (before, change) =>
  change.taskId === before.taskId && !change.chosen ? before : { ...before, ...change },
);

export const useSelectedTask = (): string | undefined => useStore(store).taskId;
export const selectedTask = (): string | undefined => store.get().taskId;
export const onSelect = store.subscribe;
/** The address may name a task before the browser reports that it changed. */
export const hasChosenTask = (): boolean => store.get().chosen || read() !== undefined;

/** Shows a task, or the start page. The address names the task, so that a reload or another tab shows it too. */
export function selectTask(taskId: string | undefined, history: "push" | "replace" = "push"): void {
  const hash = taskId === undefined ? window.location.pathname : `#task=${taskId}`;
  if (history === "push" && taskId !== store.get().taskId) window.history.pushState(null, "", hash);
  else window.history.replaceState(null, "", hash);
  store.dispatch({ taskId, chosen: store.get().chosen || history === "push" });
}

export function followAddress(): void {
  const update = () => store.dispatch({ taskId: read() });
  update();
  window.addEventListener("hashchange", update);
  window.addEventListener("popstate", update);
}

/** Takes the one-time code out of the address, before the browser's history can record it. */
export function takeCode(): string | undefined {
  const { hash, pathname } = window.location;
  const [, code, task] = /^#code=([\w.~-]+)(?:&task=([\w-]+))?$/.exec(hash) ?? [];
  if (hash.includes("code=")) window.history.replaceState(null, "", task ? `#task=${task}` : pathname);
  return code;
}

/** Opens the panel in another window, with a code of its own. */
export async function openWindow(service: BrainService, taskId: string | undefined): Promise<void> {
  // Opened before the first await: a browser only lets a click itself open a window.
  const opened = window.open("", "_blank");
  if (opened === null) throw new Error("The browser blocked the new window.");
  try {
    const { code } = await service.newCode();
    opened.opener = null;
    opened.location.href = `${window.location.origin}/#code=${code}${taskId === undefined ? "" : `&task=${taskId}`}`;
  } catch (error) {
    opened.close();
    throw error;
  }
}
