import { type KeyboardEvent, useState } from "react";
import { hasEnded } from "../../../client/index.ts";
import type { Task } from "../../../wire/types.ts";
import { useRegistry } from "../../shared/brain.tsx";
import { ago, cost, leaf } from "../../shared/format.ts";
import { Icon } from "../../shared/icons.tsx";
import { type Choice, Menu } from "../../shared/menu.tsx";
import ui from "../../shared/ui.module.css";
import { showError, showToast } from "../../stores/toasts.ts";
import { needsYou } from "./groups.ts";
import styles from "./History.module.css";

interface Props {
  readonly task: Task;
  /** The sidecar's own workspace; tasks elsewhere show theirs. */
  readonly workspace: string | undefined;
  readonly current: boolean;
  readonly onSelect: (taskId: string | undefined) => void;
  /** Opens a task in a new window. */
  readonly onWindow: (taskId: string) => void;
  readonly onDeleted: (taskId: string) => void;
}

type Action = "rename" | "pin" | "archive" | "delete";

/** A task in the history, with a menu to rename, pin, archive or delete it. */
export function TaskRow({ task, workspace, current, onSelect, onWindow, onDeleted }: Props) {
  const { service, feed } = useRegistry();
  const [renaming, setRenaming] = useState(false);
  const label = (change: Parameters<typeof service.label>[1]) => service.label(task.id, change).catch(showError);
  const remove = async () => {
    try {
      await service.remove(task.id);
      feed.forget(task.id);
      onDeleted(task.id);
      if (current) onSelect(undefined);
    } catch (error) {
      showError(error);
    }
  };
  const run: Record<Action, () => void> = {
    rename: () => setRenaming(true),
    pin: () => void label({ pinned: !task.pinned }),
    archive: () => void label({ archived: !task.archived }),
    delete: () =>
      showToast(`Delete “${task.title}” and its history? Its changes stay in your files.`, {
        action: { label: "Delete", run: () => void remove() },
      }),
  };
  const choices: Choice<Action>[] = [
    { value: "rename", label: "Rename" },
    { value: "pin", label: task.pinned ? "Unpin" : "Pin" },
    { value: "archive", label: task.archived ? "Unarchive" : "Archive" },
    { value: "delete", label: "Delete", disabled: !hasEnded(task.status), hint: "With its history" },
  ];
  if (renaming)
    return (
      <Rename
        title={task.title}
        onDone={(title) => {
          setRenaming(false);
          if (title) void label({ title });
        }}
      />
    );
  return (
    <div className={styles.item} data-needs-you={needsYou(task) || undefined}>
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
        <span className={styles.title} dir="auto">
          {task.title}
        </span>
        <span className={styles.details}>
          <span title={task.workspace}>{details(task, workspace)}</span>
          {task.verified !== null && (
            <span className={ui.badge} data-tone={task.verified ? "good" : "bad"}>
              <Icon name={task.verified ? "check" : "close"} />
              {task.verified ? "verified" : "not verified"}
            </span>
          )}
        </span>
        <time dateTime={task.createdAt}>{ago(task.createdAt)}</time>
      </a>
      <Menu
        label={`Actions for ${task.title}`}
        icon="more"
        value={undefined}
        choices={choices}
        onChoose={(action) => run[action]()}
        below
      />
    </div>
  );
}

const details = (task: Task, workspace: string | undefined): string =>
  [
    workspace !== undefined && task.workspace !== workspace && leaf(task.workspace),
    needsYou(task) ? "needs you" : task.status,
    task.intent?.replaceAll("_", " "),
    (task.usage.costUsd ?? 0) > 0 && cost(task.usage.costUsd!),
  ]
    .filter(Boolean)
    .join(" · ");

/** The title as a field; Enter saves it, Esc leaves it. */
function Rename({ title, onDone }: { title: string; onDone: (title: string | undefined) => void }) {
  const [typed, setTyped] = useState(title);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") onDone(typed.trim() || undefined);
    else if (event.key === "Escape") onDone(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <input
      aria-label="Title"
      value={typed}
      maxLength={200}
      // biome-ignore lint/a11y/noAutofocus: you chose to rename it
      autoFocus
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={() => onDone(typed.trim() === title ? undefined : typed.trim() || undefined)}
    />
  );
}
