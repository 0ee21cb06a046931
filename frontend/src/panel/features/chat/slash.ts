import { type Intent, SLASH, SLASH_COMMANDS } from "../../../wire/commands.ts";
import { allAgents } from "../../stores/catalog.ts";
import { allCommands, type Command } from "../../stores/commands.ts";
import { nearest } from "./nearest.ts";
import { slashUses } from "./prompt-history.ts";

/** The agents, without those whose name is a slash command already. */
const agents = () => allAgents().filter(({ name }) => !Object.hasOwn(SLASH_COMMANDS, name));

export interface Suggestion {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  /** The composer's text after picking it. */
  readonly text: string;
  /** Where the cursor goes, if there is more to choose from. */
  readonly caret?: number;
}

export function slashSuggestions(text: string): Suggestion[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  const uses = slashUses();
  const all: Suggestion[] = [
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
      hint: `Only the ${name}. ${description}`,
      text: `/${name} `,
    })),
  ];
  return all
    .filter(({ label }) => label.slice(1).startsWith(typed))
    .sort((one, other) => (uses[other.label] ?? 0) - (uses[one.label] ?? 0) || one.label.localeCompare(other.label));
}

/** Commands that exist only at times, and the message for the other times. */
const UNAVAILABLE: Record<string, string> = {
  cancel: "Nothing to cancel: no task is running here.",
  resume: "Nothing to resume: no task is stopped here.",
  copy: "Nothing to copy: there is no answer yet.",
  fork: "Nothing to fork: no task is open.",
};

interface TaskInput {
  readonly kind: "task";
  readonly text: string;
  readonly intent: Intent | undefined;
  readonly agent: string | undefined;
}

export type ParsedInput =
  | TaskInput
  | { readonly kind: "command"; readonly command: Command; readonly argument: string }
  | { readonly kind: "unavailable"; readonly reason: string }
  /** `asTask` is what to send if you insist. */
  | { readonly kind: "mistyped"; readonly word: string; readonly suggestion: string; readonly asTask: TaskInput };

/** Parses what you typed: a command of the panel, or a task, perhaps with an intent. A path such as /etc is a task. */
export function parseInput(text: string): ParsedInput {
  const task = (words: string, more: Partial<TaskInput> = {}): TaskInput => ({
    kind: "task",
    text: words,
    intent: undefined,
    agent: undefined,
    ...more,
  });
  const slash = SLASH.exec(text);
  if (slash === null) return task(text);
  const word = slash[1]!;
  const argument = text.slice(slash[0].length).trim();
  const commands = [...allCommands().values()];
  const command = commands.find((one) => one.slash === word);
  // “/new” with text after it is a task: the text must not get lost.
  if (command && (argument === "" || command.takesText)) return { kind: "command", command, argument };
  if (command === undefined && Object.hasOwn(UNAVAILABLE, word) && argument === "")
    return { kind: "unavailable", reason: UNAVAILABLE[word]! };
  if (command === undefined && Object.hasOwn(SLASH_COMMANDS, word))
    // The sidecar replaces the slash command with a sentence, so it stays in the text.
    return argument === "" ? task(text) : task(text, { intent: SLASH_COMMANDS[word]!.intent });
  const names = agents().map(({ name }) => name);
  if (names.includes(word)) return argument === "" ? task(text) : task(argument, { agent: word });
  const known = [...commands.flatMap((one) => one.slash ?? []), ...Object.keys(UNAVAILABLE), ...names];
  const suggestion = known.includes(word) ? undefined : nearest(word, known);
  return suggestion === undefined ? task(text) : { kind: "mistyped", word, suggestion, asTask: task(text) };
}
