import type { ModelList, StatusAnswer } from "../../../wire/types.ts";
import { Icon, type IconName } from "../../shared/icons.tsx";
import { leaf } from "../../shared/words.ts";
import { TrustNote } from "./TrustNote.tsx";

const EXAMPLES: readonly (readonly [IconName, string, string])[] = [
  ["check", "run the tests", "Finds the test framework and runs it"],
  ["file", "list the files", "What is in this workspace"],
  ["search", "search for TODO", "Every place, with its line"],
];

interface Props {
  readonly status: StatusAnswer | undefined;
  readonly models: ModelList | undefined;
  readonly onExample: (text: string) => void;
  readonly onSettings: () => void;
}

/** The first minute: what works right now, and what a model would add. */
export function Welcome({ status, models, onExample, onSettings }: Props) {
  const smart = models?.roles.find((role) => role.role === "smart")?.chain[0];
  const offline = smart?.startsWith("offline/") ?? false;
  return (
    <div className="welcome">
      <h1>What should be done{status ? ` in ${leaf(status.workspace)}` : ""}?</h1>
      {offline && (
        <p>
          No language model is set up, and none is needed for these. For everything else, add one:{" "}
          <button type="button" className="link" onClick={onSettings}>
            models and keys
          </button>
          .
        </p>
      )}
      <ul className="examples" aria-label="Examples">
        {EXAMPLES.map(([icon, text, hint]) => (
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
