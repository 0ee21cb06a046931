import { useMemo, useState } from "react";
import type { TaskListAndMore } from "../../../client/react.ts";
import type { Status, Task } from "../../../wire/types.ts";
import { Icon } from "../../shared/icons.tsx";
import { ago, leaf } from "../../shared/words.ts";

const FILTERS: readonly (readonly [string, readonly Status[] | undefined])[] = [
  ["All", undefined],
  ["Active", ["queued", "running", "waiting", "cancelling", "interrupted"]],
  ["Done", ["completed"]],
  ["Stopped", ["failed", "cancelled", "escalated"]],
];

interface Props {
  readonly list: TaskListAndMore;
  /** The sidecar's own workspace: of tasks elsewhere it is said where. */
  readonly here: string | undefined;
  readonly selected: string | undefined;
  readonly onSelect: (taskId: string | undefined) => void;
  /** In a window of its own. */
  readonly onWindow: (taskId: string) => void;
}

/** The tasks by conversation, newest first. */
export function History({ list, here, selected, onSelect, onWindow }: Props) {
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
    <nav className="history" aria-label="Tasks">
      <button type="button" className="button history-new" onClick={() => onSelect(undefined)}>
        <Icon name="add" /> New task
      </button>
      <input
        type="search"
        aria-label="Search tasks"
        placeholder="Search tasks"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <div className="history-filters" role="group" aria-label="Which tasks">
        {FILTERS.map(([name], place) => (
          <button key={name} type="button" aria-pressed={place === filter} onClick={() => setFilter(place)}>
            {name}
          </button>
        ))}
      </div>
      {list.loaded && shown.length === 0 && (
        <p className="history-none">{list.tasks.length === 0 ? "No tasks yet." : "No task like that."}</p>
      )}
      <ul className="history-list">
        {shown.map((tasks) => (
          <li key={tasks[0]!.conversationId} className={tasks.length > 1 ? "history-conversation" : undefined}>
            {tasks.map((task) => (
              <Row
                key={task.id}
                task={task}
                here={here}
                current={task.id === selected}
                onSelect={onSelect}
                onWindow={onWindow}
              />
            ))}
          </li>
        ))}
      </ul>
      {list.hasMore && (
        <button type="button" className="button button-plain" onClick={list.more}>
          Show older tasks
        </button>
      )}
    </nav>
  );
}

interface RowProps extends Pick<Props, "here" | "onSelect" | "onWindow"> {
  readonly task: Task;
  readonly current: boolean;
}

const Row = ({ task, here, current, onSelect, onWindow }: RowProps) => (
  <a
    className="history-row"
    href={`#task=${task.id}`}
    aria-current={current ? "page" : undefined}
    onClick={(event) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) onWindow(task.id);
      else onSelect(task.id);
    }}
  >
    <span className={`dot dot-${task.status}`} title={task.status} />
    <span className="history-title">{task.task.split("\n", 1)[0]}</span>
    <span className="history-more">
      <span title={task.workspace}>
        {[here !== undefined && task.workspace !== here && leaf(task.workspace), task.status, kindOf(task)]
          .filter(Boolean)
          .join(" · ")}
      </span>
      {task.verified !== null && (
        <span className={`badge badge-${task.verified ? "good" : "bad"}`}>
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
