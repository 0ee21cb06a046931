import { Store, useStore } from "../shared/store.ts";

const read = (): string | undefined => /^#task=([\w-]+)$/.exec(window.location.hash)?.[1];

/** Whether the person has chosen what to look at. */
let chosen = false;
export const hasChosen = (): boolean => chosen;

const selected = new Store<string | undefined>(undefined);

export const useSelectedTask = (): string | undefined => useStore(selected);

/** Shows a task, or the beginning of a new one; the address says which, so that a reload or another tab shows it too. */
export function selectTask(taskId: string | undefined, how: "push" | "replace" = "push"): void {
  chosen ||= how === "push";
  const hash = taskId === undefined ? window.location.pathname : `#task=${taskId}`;
  if (how === "push" && taskId !== selected.get()) window.history.pushState(null, "", hash);
  else window.history.replaceState(null, "", hash);
  selected.set(taskId);
}

export function followAddress(): void {
  selected.set(read());
  window.addEventListener("hashchange", () => selected.set(read()));
  window.addEventListener("popstate", () => selected.set(read()));
}

/** The one-time code of the address, which is taken out of it at once: no history, no screenshot keeps it. */
export function takeCode(): string | undefined {
  const code = /^#code=([\w.~-]+)$/.exec(window.location.hash)?.[1];
  if (window.location.hash.includes("code=")) window.history.replaceState(null, "", window.location.pathname);
  return code;
}
