import type { StatusAnswer } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Icon } from "../../shared/icons.tsx";
import { OfflineNotice } from "../../shared/offline-notice.tsx";
import ui from "../../shared/ui.module.css";
import { isOffline, useModels } from "../../stores/catalog.ts";
import { usePreferences } from "../../stores/preferences.ts";
import { useExamples } from "./examples.ts";
import { TrustNote } from "./TrustNote.tsx";
import styles from "./Welcome.module.css";

interface Props {
  readonly status: StatusAnswer | undefined;
  readonly onExample: (text: string) => void;
  readonly onModels: () => void;
}

/** The start page: examples that work right now, and how to add a model. */
export function Welcome({ status, onExample, onModels }: Props) {
  const examples = useExamples(useBrain());
  const { model } = usePreferences();
  const offline = isOffline(useModels()) && model === null;
  return (
    <div className={styles.welcome}>
      <h1>What would you like to build?</h1>
      {offline && (
        <div className={styles.offline}>
          <OfflineNotice />
          <button type="button" className={ui.primary} onClick={onModels}>
            Add a model
          </button>
        </div>
      )}
      <ul className={styles.examples} aria-label="Examples">
        {examples.map(({ icon, text, hint }) => (
          <li key={text}>
            <button type="button" onClick={() => onExample(text)}>
              <Icon name={icon} />
              <span>{text}</span>
              <small>{hint}</small>
            </button>
          </li>
        ))}
      </ul>
      {status && <TrustNote workspace={status.workspace} />}
      <p className={styles.keys}>
        <kbd>Enter</kbd> sends · <kbd>Shift</kbd> <kbd>Enter</kbd> new line · <kbd>/</kbd> commands · <kbd>@</kbd> files
        · <kbd>↑</kbd> earlier prompts
      </p>
    </div>
  );
}
