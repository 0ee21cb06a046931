import type { StatusAnswer } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Icon } from "../../shared/icons.tsx";
import { Mark } from "../../shared/mark.tsx";
import ui from "../../shared/ui.module.css";
import { defaultModel, isOffline, useModels } from "../../stores/catalog.ts";
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
  const models = useModels();
  const offline = isOffline(models) && model === null;
  const chosen = model ?? defaultModel(models);
  return (
    <div className={styles.welcome}>
      <Mark />
      <h1>What would you like to build?</h1>
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
      <p className={styles.model}>
        {offline ? (
          <>
            <strong>No language model is set up.</strong> Templates, searches, renames, tests and Git work without one.{" "}
            <button type="button" className={ui.link} onClick={onModels}>
              Add a model
            </button>
          </>
        ) : (
          chosen && (
            <>
              Answers come from <strong>{chosen}</strong>.{" "}
              <button type="button" className={ui.link} onClick={onModels}>
                Change it
              </button>
            </>
          )
        )}
      </p>
      {status && <TrustNote workspace={status.workspace} />}
      <p className={styles.keys}>
        <kbd>Enter</kbd> sends · <kbd>Shift</kbd> <kbd>Enter</kbd> new line · <kbd>/</kbd> commands · <kbd>@</kbd> files
        · <kbd>↑</kbd> earlier prompts
      </p>
    </div>
  );
}
