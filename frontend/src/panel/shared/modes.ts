import type { Mode } from "../stores/preferences.ts";

/** The approval modes, with their names here and what they do. */
export const MODES: readonly { readonly value: Mode; readonly label: string; readonly hint: string }[] = [
  { value: "readonly", label: "Ask", hint: "reads and answers, changes nothing" },
  { value: "plan", label: "Plan", hint: "plans, and asks whether to go ahead" },
  { value: "ask", label: "Edit", hint: "asks before commands" },
  { value: "edits", label: "Careful", hint: "asks before edits and commands" },
  { value: "auto", label: "Auto", hint: "never asks, denies instead" },
];
