import type { Task } from "../../../wire/types.ts";

export interface Group {
  readonly name: string;
  readonly tasks: readonly Task[];
}

const DAY = 86_400_000;

const NEEDS_YOU: ReadonlySet<Task["status"]> = new Set(["waiting", "escalated"]);
export const needsYou = ({ status }: Pick<Task, "status">): boolean => NEEDS_YOU.has(status);

/** Tasks by day: those that need you and the pinned ones first. */
export function groupByDate(tasks: readonly Task[], now: Date = new Date()): Group[] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const groups = new Map<string, Task[]>();
  for (const name of ["Needs you", "Pinned"]) groups.set(name, []);
  for (const task of tasks) {
    // Parts of a crew are shown with their crew.
    if (task.parent !== undefined && !needsYou(task)) continue;
    const name = nameOf(task, midnight);
    groups.set(name, [...(groups.get(name) ?? []), task]);
  }
  return [...groups].filter(([, found]) => found.length > 0).map(([name, found]) => ({ name, tasks: found }));
}

function nameOf(task: Task, midnight: number): string {
  if (needsYou(task)) return "Needs you";
  if (task.pinned) return "Pinned";
  const at = Date.parse(task.createdAt);
  if (at >= midnight) return "Today";
  if (at >= midnight - DAY) return "Yesterday";
  if (at >= midnight - 7 * DAY) return "Last 7 days";
  if (at >= midnight - 30 * DAY) return "Last 30 days";
  return new Date(at).toLocaleDateString(undefined, { month: "long", year: "numeric" });
}
