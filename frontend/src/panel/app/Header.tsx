import type { StatusAnswer, Task } from "../../wire/types.ts";
import { keySigns } from "../shared/commands.ts";
import { Icon } from "../shared/icons.tsx";
import { isOffline, useModels } from "../shared/models.ts";
import { usePreferences } from "../shared/preferences.ts";
import { leaf } from "../shared/words.ts";

interface Props {
  readonly status: StatusAnswer | undefined;
  readonly task: Task | undefined;
  /** Undefined where the tasks are in sight already. */
  readonly onHistory: (() => void) | undefined;
  readonly onNew: () => void;
  readonly onPalette: () => void;
  readonly onSettings: (page: "general" | "models") => void;
}

export function Header({ status, task, onHistory, onNew, onPalette, onSettings }: Props) {
  const workspace = task?.workspace ?? status?.workspace;
  const { model } = usePreferences();
  const offline = isOffline(useModels()) && model === null;
  return (
    <header className="bar">
      {onHistory && (
        <button type="button" className="icon-button" aria-label="Tasks" title="Tasks" onClick={onHistory}>
          <Icon name="menu" />
        </button>
      )}
      <span className="bar-brand">Rainy Brain</span>
      {workspace && (
        <span className="bar-workspace" title={workspace}>
          {leaf(workspace)}
        </span>
      )}
      {offline && (
        <button
          type="button"
          className="bar-offline"
          title="There is no language model; add one"
          onClick={() => onSettings("models")}
        >
          offline
        </button>
      )}
      <span className="bar-task">{task?.task.split("\n", 1)[0]}</span>
      {onHistory && (
        <button type="button" className="icon-button" aria-label="New task" title="New task" onClick={onNew}>
          <Icon name="add" />
        </button>
      )}
      <button type="button" className="button bar-search" title="Command palette" onClick={onPalette}>
        <Icon name="search" />
        <span className="hidden">Open the command palette</span>
        <span className="bar-keys">
          {keySigns("mod+k").map((sign) => (
            <kbd key={sign}>{sign}</kbd>
          ))}
        </span>
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="Settings"
        title="Settings"
        onClick={() => onSettings("general")}
      >
        <Icon name="settings" />
      </button>
    </header>
  );
}
