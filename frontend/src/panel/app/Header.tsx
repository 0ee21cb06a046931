import type { StatusAnswer, Task } from "../../wire/types.ts";
import { leaf } from "../shared/format.ts";
import { Icon } from "../shared/icons.tsx";
import { Mark } from "../shared/mark.tsx";
import ui from "../shared/ui.module.css";
import { isOffline, useModels } from "../stores/catalog.ts";
import { keyLabels } from "../stores/commands.ts";
import { usePreferences } from "../stores/preferences.ts";
import styles from "./Header.module.css";

interface Props {
  readonly status: StatusAnswer | undefined;
  readonly task: Task | undefined;
  /** Undefined while the sidebar shows the tasks. */
  readonly onHistory: (() => void) | undefined;
  readonly onNew: () => void;
  readonly onPalette: () => void;
  readonly onDashboard: () => void;
  readonly onSettings: (page: "general" | "models") => void;
}

export function Header({ status, task, onHistory, onNew, onPalette, onDashboard, onSettings }: Props) {
  const workspace = task?.workspace ?? status?.workspace;
  const { model } = usePreferences();
  const offline = isOffline(useModels()) && model === null;
  return (
    <header className={styles.bar}>
      {onHistory && (
        <button type="button" className={ui.iconButton} aria-label="Tasks" title="Tasks" onClick={onHistory}>
          <Icon name="menu" />
        </button>
      )}
      <Mark />
      <span className={styles.brand}>Rainy Brain</span>
      {workspace && (
        <span className={styles.workspace} title={workspace}>
          {leaf(workspace)}
        </span>
      )}
      {offline && (
        <button
          type="button"
          className={styles.offline}
          title="No language model; add one"
          onClick={() => onSettings("models")}
        >
          offline
        </button>
      )}
      {task ? <h1 className={styles.task}>{task.title}</h1> : <span className={styles.task} />}
      {onHistory && (
        <button type="button" className={ui.iconButton} aria-label="New task" title="New task" onClick={onNew}>
          <Icon name="add" />
        </button>
      )}
      <button type="button" className={`${ui.button} ${styles.search}`} title="Command palette" onClick={onPalette}>
        <Icon name="search" />
        <span className={ui.visuallyHidden}>Open the command palette</span>
        <span className={styles.keys}>
          {keyLabels("mod+k").map((sign) => (
            <kbd key={sign}>{sign}</kbd>
          ))}
        </span>
      </button>
      <button type="button" className={ui.iconButton} aria-label="Dashboard" title="Dashboard" onClick={onDashboard}>
        <Icon name="chart" />
      </button>
      <button
        type="button"
        className={ui.iconButton}
        aria-label="Settings"
        title="Settings"
        onClick={() => onSettings("general")}
      >
        <Icon name="settings" />
      </button>
    </header>
  );
}
