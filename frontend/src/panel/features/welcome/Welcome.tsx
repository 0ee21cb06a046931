import type { StatusAnswer } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Icon } from "../../shared/icons.tsx";
import { isOffline, useModels } from "../../shared/models.ts";
import { OfflineWords } from "../../shared/offline.tsx";
import { usePreferences } from "../../shared/preferences.ts";
import { leaf } from "../../shared/words.ts";
import { useExamples } from "./examples.ts";
import { TrustNote } from "./TrustNote.tsx";

interface Props {
  readonly status: StatusAnswer | undefined;
  readonly onExample: (text: string) => void;
  readonly onModels: () => void;
}

/** The first minute: what works right now, and what a model would add. */
export function Welcome({ status, onExample, onModels }: Props) {
  const examples = useExamples(useBrain());
  const { model } = usePreferences();
  const offline = isOffline(useModels()) && model === null;
  return (
    <div className="welcome">
      <h1>What should be done{status ? ` in ${leaf(status.workspace)}` : ""}?</h1>
      {offline && (
        <div className="welcome-offline">
          <OfflineWords />
          <button type="button" className="button button-primary" onClick={onModels}>
            Add a model
          </button>
        </div>
      )}
      <ul className="examples" aria-label="Examples">
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
      <p className="welcome-keys">
        <kbd>Enter</kbd> sends · <kbd>Shift</kbd> <kbd>Enter</kbd> new line · <kbd>/</kbd> commands · <kbd>@</kbd> files
        · <kbd>↑</kbd> what you asked before
      </p>
    </div>
  );
}
