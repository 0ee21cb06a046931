// Generated from sidecar/wire by `make generate`. Do not edit.

export const INTENTS = [
  "chat",
  "explain_code",
  "edit_code",
  "refactor_code",
  "create_project",
  "run_command",
  "review_code",
  "write_docs",
  "research",
] as const;

export type Intent = (typeof INTENTS)[number];

/** A slash command at the start of a task: its word, and everything after it. */
export const SLASH = new RegExp("^/([A-Za-z0-9_-]+)(?!\\S)\\s*");

export const SLASH_COMMANDS: Readonly<Record<string, { readonly intent: Intent; readonly hint: string }>> = {
  ask: { intent: "chat", hint: "Only talk, change nothing" },
  explain: { intent: "explain_code", hint: "Explain code, change nothing" },
  edit: { intent: "edit_code", hint: "Change code" },
  refactor: { intent: "refactor_code", hint: "Plan and change code in several places" },
  create: { intent: "create_project", hint: "Start a new project" },
  run: { intent: "run_command", hint: "Run a command or the tests" },
  review: { intent: "review_code", hint: "Review code" },
  docs: { intent: "write_docs", hint: "Write documentation" },
  research: { intent: "research", hint: "Research a question and cite its sources" },
};
