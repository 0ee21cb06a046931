import { type Intent, SLASH, SLASH_COMMANDS } from "../../../wire/commands.ts";
import { allAgents } from "../../shared/agents.ts";
import { allCommands, type Command } from "../../shared/commands.ts";
import { nearest } from "./slips.ts";

/** An agent whose name means a kind of task as well is asked for by that. */
const agents = () => allAgents().filter(({ name }) => !Object.hasOwn(SLASH_COMMANDS, name));

export interface Suggestion {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  /** The text that the composer has afterwards. */
  readonly text: string;
  /** Where one goes on writing, if there is more to choose from. */
  readonly caret?: number;
}

export function slashSuggestions(text: string): Suggestion[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  const words: Suggestion[] = [
    ...[...allCommands().values()].flatMap((command) =>
      command.slash === undefined
        ? []
        : [{ id: command.id, label: `/${command.slash}`, hint: command.title, text: `/${command.slash}` }],
    ),
    ...Object.entries(SLASH_COMMANDS).map(([word, { hint }]) => ({
      id: `intent.${word}`,
      label: `/${word}`,
      hint,
      text: `/${word} `,
    })),
    ...agents().map(({ name, description }) => ({
      id: `agent.${name}`,
      label: `/${name}`,
      hint: `Let the ${name} do it alone. ${description}`,
      text: `/${name} `,
    })),
  ];
  return words
    .filter((word) => word.label.slice(1).startsWith(typed))
    .sort((one, other) => one.label.localeCompare(other.label));
}

/** Commands of a task that are there only at times, and what to say when they are not. */
const AWAY: Record<string, string> = {
  cancel: "There is nothing at work here that could be cancelled.",
  resume: "There is no task here that could be resumed.",
  copy: "There is no answer here to copy.",
  fork: "There is no task here to fork.",
};

interface Asked {
  readonly kind: "task";
  readonly text: string;
  readonly intent: Intent | undefined;
  readonly agent: string | undefined;
}

export type Said =
  | Asked
  | { readonly kind: "command"; readonly command: Command; readonly argument: string }
  | { readonly kind: "away"; readonly why: string }
  /** `meant` is a word of the panel; `sentence` is what it is if the person insists. */
  | { readonly kind: "misspelled"; readonly word: string; readonly meant: string; readonly sentence: Asked };

/** What was meant: a command of the panel, or a task, perhaps of a certain kind. A path such as /etc is a task. */
export function understood(text: string): Said {
  const asked = (words: string, more: Partial<Asked> = {}): Asked => ({
    kind: "task",
    text: words,
    intent: undefined,
    agent: undefined,
    ...more,
  });
  const found = SLASH.exec(text);
  if (found === null) return asked(text);
  const word = found[1]!;
  const argument = text.slice(found[0].length).trim();
  const commands = [...allCommands().values()];
  const command = commands.find((one) => one.slash === word);
  // With words after it “/new” is a task: they must not get lost.
  if (command && (argument === "" || command.takesWords)) return { kind: "command", command, argument };
  if (command === undefined && Object.hasOwn(AWAY, word) && argument === "") return { kind: "away", why: AWAY[word]! };
  if (command === undefined && Object.hasOwn(SLASH_COMMANDS, word))
    // With its slash: the sidecar makes a sentence of it, as it does for every other door.
    return argument === "" ? asked(text) : asked(text, { intent: SLASH_COMMANDS[word]!.intent });
  const names = agents().map(({ name }) => name);
  if (names.includes(word)) return argument === "" ? asked(text) : asked(argument, { agent: word });
  const known = [...commands.flatMap(({ slash }) => slash ?? []), ...Object.keys(AWAY), ...names];
  const meant = known.includes(word) ? undefined : nearest(word, known);
  return meant === undefined ? asked(text) : { kind: "misspelled", word, meant, sentence: asked(text) };
}
