import { useMemo, useState } from "react";
import type { TaskList } from "../../../client/index.ts";
import type { Status, Task } from "../../../wire/types.ts";
import { ago, leaf } from "../../shared/format.ts";
import { Icon } from "../../shared/icons.tsx";
import ui from "../../shared/ui.module.css";
import styles from "./History.module.css";

const FILTERS: readonly (readonly [string, readonly Status[] | undefined])[] = [
  ["All", undefined],
  ["Active", ["queued", "running", "waiting", "cancelling", "interrupted"]],
  ["Done", ["completed"]],
  ["Stopped", ["failed", "cancelled", "escalated"]],
];

interface Props {
  readonly list: TaskList;
  /** The sidecar's own workspace; tasks elsewhere show theirs. */
  readonly workspace: string | undefined;
  readonly selected: string | undefined;
  readonly onSelect: (taskId: string | undefined) => void;
  /** Opens a task in a new window. */
  readonly onWindow: (taskId: string) => void;
  readonly onMore: () => void;
}

/** The tasks by conversation, newest first. */
export function History({ list, workspace, selected, onSelect, onWindow, onMore }: Props) {
  const [typed, setTyped] = useState("");
  const [filter, setFilter] = useState(0);
  const shown = useMemo(() => {
    const wanted = FILTERS[filter]![1];
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    return byConversation(
      list.tasks.filter((task) => {
        const text = `${task.task} ${task.workspace} ${task.status}`.toLowerCase();
        return (!wanted || wanted.includes(task.status)) && words.every((word) => text.includes(word));
      }),
    );
  }, [list.tasks, typed, filter]);
  return (
    <nav className={styles.history} aria-label="Tasks">
      <button type="button" className={ui.button} onClick={() => onSelect(undefined)}>
        <Icon name="add" /> New task
      </button>
      <input
        type="search"
        aria-label="Search tasks"
        placeholder="Search tasks"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <div className={styles.filters} role="group" aria-label="Filter tasks">
        {FILTERS.map(([name], place) => (
          <button key={name} type="button" aria-pressed={place === filter} onClick={() => setFilter(place)}>
            {name}
          </button>
        ))}
      </div>
      {list.loaded && shown.length === 0 && (
        <p className={styles.empty}>{list.tasks.length === 0 ? "No tasks yet." : "No matching tasks."}</p>
      )}
      <ul className={styles.list}>
        {shown.map((tasks) => (
          <li key={tasks[0]!.conversationId} className={tasks.length > 1 ? styles.conversation : undefined}>
            {tasks.map((task) => (
              <Row
                key={task.id}
                task={task}
                workspace={workspace}
                current={task.id === selected}
                onSelect={onSelect}
                onWindow={onWindow}
              />
            ))}
          </li>
        ))}
      </ul>
      {list.hasMore && (
        <button type="button" className={ui.plain} onClick={onMore}>
          Show older tasks
        </button>
      )}
    </nav>
  );
}

interface RowProps extends Pick<Props, "workspace" | "onSelect" | "onWindow"> {
  readonly task: Task;
  readonly current: boolean;
}

const Row = ({ task, workspace, current, onSelect, onWindow }: RowProps) => (
  <a
    className={styles.row}
    href={`#task=${task.id}`}
    aria-current={current ? "page" : undefined}
    onClick={(event) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) onWindow(task.id);
      else onSelect(task.id);
    }}
  >
    <span className={styles.dot} data-status={task.status} title={task.status} />
    <span className={styles.title}>{task.task.split("\n", 1)[0]}</span>
    <span className={styles.details}>
      <span title={task.workspace}>
        {[workspace !== undefined && task.workspace !== workspace && leaf(task.workspace), task.status, kindOf(task)]
          .filter(Boolean)
          .join(" · ")}
      </span>
      {task.verified !== null && (
        <span className={ui.badge} data-tone={task.verified ? "good" : "bad"}>
          <Icon name={task.verified ? "check" : "close"} />
          {task.verified ? "verified" : "not verified"}
        </span>
      )}
    </span>
    <time dateTime={task.createdAt}>{ago(task.createdAt)}</time>
  </a>
);

const kindOf = (task: Task): string | undefined => task.intent?.replaceAll("_", " ");

function byConversation(tasks: readonly Task[]): Task[][] {
  const found = new Map<string, Task[]>();
  for (const task of tasks) found.set(task.conversationId, [...(found.get(task.conversationId) ?? []), task]);
  return [...found.values()];
}
