import type { BrainService } from "../../client/index.ts";
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
  const { hash, pathname } = window.location;
  const [, code, task] = /^#code=([\w.~-]+)(?:&task=([\w-]+))?$/.exec(hash) ?? [];
  if (hash.includes("code=")) window.history.replaceState(null, "", task ? `#task=${task}` : pathname);
  return code;
}

/** The panel once more, in a window that comes in with a code of its own. */
export async function openWindow(service: BrainService, taskId: string | undefined): Promise<void> {
  // Opened before anything is waited for: a browser lets a click open a window, and nothing later.
  const opened = window.open("", "_blank");
  if (opened === null) throw new Error("The browser does not let the panel open a window.");
  try {
    const { code } = await service.newCode();
    opened.opener = null;
    opened.location.href = `${window.location.origin}/#code=${code}${taskId === undefined ? "" : `&task=${taskId}`}`;
  } catch (error) {
    opened.close();
    throw error;
  }
}
