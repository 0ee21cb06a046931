import { useEffect, useRef } from "react";
import type { TaskList } from "../../../client/index.ts";
import type { Status, Task } from "../../../wire/types.ts";
import { preferences } from "../../stores/preferences.ts";

const LABELS: Partial<Record<Status, string>> = {
  completed: "Done",
  failed: "Failed",
  escalated: "Needs your help",
  waiting: "Waiting for you",
};

/** The tasks to notify about: those whose status changed to one of `LABELS`, and new ones that start with one. */
export function newsIn(tasks: readonly Task[], before: ReadonlyMap<string, Status>, since: number): Task[] {
  return tasks.filter((task) => {
    const previous = before.get(task.id);
    const isNew = previous === undefined && Date.parse(task.createdAt) >= since;
    return LABELS[task.status] !== undefined && (isNew || (previous !== undefined && previous !== task.status));
  });
}

/** Shows a notification when a task ends or waits while the page is hidden. */
export function useNotifications({ tasks, loaded }: TaskList, onOpen: (taskId: string) => void): void {
  const seen = useRef<Map<string, Status>>(undefined);
  const since = useRef(0);
  useEffect(() => {
    if (!loaded) return;
    const before = seen.current;
    seen.current = new Map(tasks.map((task) => [task.id, task.status]));
    if (before === undefined) since.current = Date.now();
    if (before === undefined || !preferences().notifications || document.visibilityState === "visible") return;
    if (typeof Notification === "undefined" || Notification.permission !== "granted") return;
    for (const task of newsIn(tasks, before, since.current)) {
      const note = new Notification(`${LABELS[task.status]}: ${task.task.slice(0, 80)}`, { tag: task.id });
      note.onclick = () => {
        window.focus();
        onOpen(task.id);
        note.close();
      };
    }
  }, [tasks, loaded, onOpen]);
}
