import type { Options } from "../../../wire/types.ts";
import { allAgents } from "../../shared/agents.ts";
import { allCommands, type Command } from "../../shared/commands.ts";

type Intent = NonNullable<Options["intent"]>;

/** Words that say what kind of task follows, where the router would otherwise have to find out. */
const INTENTS: Record<string, readonly [Intent, string]> = {
  ask: ["chat", "Only talk, change nothing"],
  explain: ["explain_code", "Explain code, change nothing"],
  edit: ["edit_code", "Change code"],
  refactor: ["refactor_code", "Plan and change code in several places"],
  create: ["create_project", "Start a new project"],
  run: ["run_command", "Run a command or the tests"],
  review: ["review_code", "Review code"],
  docs: ["write_docs", "Write documentation"],
};

/** An agent whose name means a kind of task as well is asked for by that. */
const agents = () => allAgents().filter(({ name }) => !Object.hasOwn(INTENTS, name));

export interface Suggestion {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  /** The text that the composer has afterwards. */
  readonly text: string;
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
    ...Object.entries(INTENTS).map(([word, [, hint]]) => ({
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

export type Said =
  | { readonly kind: "command"; readonly command: Command; readonly argument: string }
  | {
      readonly kind: "task";
      readonly text: string;
      readonly intent: Intent | undefined;
      readonly agent: string | undefined;
    };

/** What was meant: a command of the panel, or a task, perhaps of a certain kind. A path such as /etc is a task. */
export function understood(text: string): Said {
  const found = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(text);
  const [, word = "", argument = ""] = found ?? [];
  const command = [...allCommands().values()].find((one) => one.slash === word);
  if (found && command) return { kind: "command", command, argument: argument.trim() };
  const intent = found && Object.hasOwn(INTENTS, word) ? INTENTS[word] : undefined;
  if (intent && argument.trim()) return { kind: "task", text: argument.trim(), intent: intent[0], agent: undefined };
  const agent = agents().find(({ name }) => name === word)?.name;
  if (found && agent && argument.trim()) return { kind: "task", text: argument.trim(), intent: undefined, agent };
  return { kind: "task", text, intent: undefined, agent: undefined };
}
