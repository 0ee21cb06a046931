import { useEffect, useRef } from "react";
import type { Status, Task } from "../../../wire/types.ts";
import { preferences } from "../../shared/preferences.ts";

const WORTH_SAYING: ReadonlySet<Status> = new Set<Status>(["completed", "failed", "escalated", "waiting"]);
const WORDS: Partial<Record<Status, string>> = {
  completed: "Done",
  failed: "Failed",
  escalated: "A person is needed",
  waiting: "Waiting for you",
};

/** Tells about tasks that end or wait while nobody looks at the panel. */
export function useNotifications(tasks: readonly Task[], onOpen: (taskId: string) => void): void {
  const seen = useRef<Map<string, Status>>(undefined);
  useEffect(() => {
    const before = seen.current;
    seen.current = new Map(tasks.map((task) => [task.id, task.status]));
    if (before === undefined || !preferences().notifications || document.visibilityState === "visible") return;
    if (typeof Notification === "undefined" || Notification.permission !== "granted") return;
    for (const task of tasks) {
      const was = before.get(task.id);
      if (was === undefined || was === task.status || !WORTH_SAYING.has(task.status)) continue;
      const note = new Notification(`${WORDS[task.status]}: ${task.task.slice(0, 80)}`, { tag: task.id });
      note.onclick = () => {
        window.focus();
        onOpen(task.id);
        note.close();
      };
    }
  }, [tasks, onOpen]);
}
