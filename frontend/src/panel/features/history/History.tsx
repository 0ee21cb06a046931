import { useMemo, useState } from "react";
import { isActive, type TaskList } from "../../../client/index.ts";
import type { Task } from "../../../wire/types.ts";
import { Icon } from "../../shared/icons.tsx";
import ui from "../../shared/ui.module.css";
import { groupByDate, needsYou } from "./groups.ts";
import styles from "./History.module.css";
import { TaskRow } from "./TaskRow.tsx";
import { useSearch } from "./useSearch.ts";

const FILTERS = ["All", "Active", "Needs you", "Archived"] as const;
type Filter = (typeof FILTERS)[number];

interface Props {
  readonly list: TaskList;
  readonly workspace: string | undefined;
  readonly selected: string | undefined;
  readonly onSelect: (taskId: string | undefined) => void;
  readonly onWindow: (taskId: string) => void;
  readonly onMore: () => void;
}

/** The tasks by day. A search asks the sidecar, which knows the words and files of all tasks. */
export function History({ list, workspace, selected, onSelect, onWindow, onMore }: Props) {
  const [typed, setTyped] = useState("");
  const [filter, setFilter] = useState<Filter>("All");
  const [deleted, setDeleted] = useState<ReadonlySet<string>>(new Set());
  const words = typed.trim();
  const archived = filter === "Archived";
  const found = useSearch(words, archived);
  const searching = words !== "" || archived;
  const groups = useMemo(() => {
    const current = new Map(list.tasks.map((task) => [task.id, task]));
    const tasks = searching && found ? found.map((task) => current.get(task.id) ?? task) : list.tasks;
    return groupByDate(tasks.filter((task) => matches(task, filter) && !deleted.has(task.id)));
  }, [list.tasks, searching, found, filter, deleted]);
  const waiting = list.tasks.filter((task) => needsYou(task) && !task.archived).length;
  return (
    <nav className={styles.history} aria-label="Tasks">
      <button type="button" className={ui.button} onClick={() => onSelect(undefined)}>
        <Icon name="add" /> New task
      </button>
      <input
        type="search"
        aria-label="Search tasks"
        placeholder="Search all tasks"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <div className={styles.filters} role="group" aria-label="Filter tasks">
        {FILTERS.map((name) => (
          <button key={name} type="button" aria-pressed={name === filter} onClick={() => setFilter(name)}>
            {name}
            {name === "Needs you" && waiting > 0 && <span className={styles.count}>{waiting}</span>}
          </button>
        ))}
      </div>
      {list.loaded && groups.length === 0 && (!searching || found !== undefined) && (
        <p className={styles.empty}>{list.tasks.length === 0 && !searching ? "No tasks yet." : "No matching tasks."}</p>
      )}
      <div className={styles.list}>
        {groups.map(({ name, tasks }) => (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            <ul>
              {tasks.map((task) => (
                <li key={task.id}>
                  <TaskRow
                    task={task}
                    workspace={workspace}
                    current={task.id === selected}
                    onSelect={onSelect}
                    onWindow={onWindow}
                    onDeleted={(id) => setDeleted((before) => new Set([...before, id]))}
                  />
                </li>
              ))}
            </ul>
          </section>
        ))}
        {list.hasMore && !searching && (
          <button type="button" className={ui.plain} onClick={onMore}>
            Show older tasks
          </button>
        )}
      </div>
    </nav>
  );
}

function matches(task: Task, filter: Filter): boolean {
  if (filter === "Archived") return task.archived;
  if (task.archived) return false;
  if (filter === "Active") return isActive(task.status) || task.status === "interrupted";
  return filter === "All" || needsYou(task);
}
