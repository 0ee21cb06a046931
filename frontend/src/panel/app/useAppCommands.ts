import { PAGES, type Page } from "../features/settings/pages.ts";
import { useCommands } from "../shared/commands.ts";
import { composerText } from "../shared/composer-text.ts";
import { prefer, preferences, type Theme } from "../shared/preferences.ts";
import { say } from "../shared/toasts.tsx";

interface Options {
  readonly wide: boolean;
  readonly onOpen: (window: "palette" | "history" | Page) => void;
  readonly onNew: () => void;
  readonly onWindow: () => void;
}

const THEMES: readonly Theme[] = ["system", "light", "dark", "contrast"];
const APPROVALS = {
  ask: "Ask before commands run",
  auto: "Run commands without asking",
  readonly: "Read only: change nothing",
} as const;

/** The pages that people ask for by name, and the word after the slash that opens each. */
const SETTINGS: readonly (readonly [Page, string])[] = [
  ["models", "models"],
  ["approvals", "allowed"],
  ["health", "doctor"],
  ["about", "about"],
];

export function useAppCommands({ wide, onOpen, onNew, onWindow }: Options): void {
  const sidebar = () => (wide ? prefer({ sidebar: !preferences().sidebar }) : onOpen("history"));
  const approve = (argument: string) => {
    if (argument in APPROVALS) prefer({ approvals: argument as keyof typeof APPROVALS });
    say(argument in APPROVALS ? `${APPROVALS[argument as keyof typeof APPROVALS]}.` : "One of: ask, auto, readonly.");
  };
  useCommands([
    { id: "app.new", title: "New task", group: "Panel", keys: "alt+n", slash: "new", run: onNew },
    { id: "app.palette", title: "Command palette", group: "Panel", keys: "mod+k", run: () => onOpen("palette") },
    {
      id: "app.settings",
      title: "Settings",
      group: "Panel",
      keys: "mod+,",
      slash: "settings",
      run: () => onOpen("general"),
    },
    ...SETTINGS.map(([page, slash]) => ({
      id: `settings.${page}`,
      title: `Settings: ${PAGES[page]}`,
      group: "Panel",
      slash,
      run: () => onOpen(page),
    })),
    {
      id: "app.history",
      title: "Show or hide the tasks",
      group: "Panel",
      keys: "mod+b",
      slash: "history",
      run: sidebar,
    },
    {
      id: "app.compose",
      title: "Go to the composer",
      group: "Panel",
      keys: "mod+i",
      run: () => composerText.set({ text: "", append: true }),
    },
    { id: "app.window", title: "Open in another window", group: "Panel", slash: "window", run: onWindow },
    {
      id: "app.changes",
      title: "Go to the changes",
      group: "Panel",
      keys: "alt+c",
      slash: "changes",
      run: () => document.querySelector<HTMLElement>("[data-hunk]")?.focus(),
    },
    {
      id: "app.conversation",
      title: "Go to the conversation",
      group: "Panel",
      keys: "alt+l",
      run: () => document.querySelector<HTMLElement>("[role=log]")?.focus(),
    },
    {
      id: "app.approvals",
      title: "How much to ask",
      group: "Approvals",
      slash: "approvals",
      takesWords: true,
      hint: "ask, auto, readonly",
      run: approve,
    },
    ...Object.entries(APPROVALS).map(([mode, title]) => ({
      id: `approvals.${mode}`,
      title,
      group: "Approvals",
      run: () => approve(mode),
    })),
    ...THEMES.map((theme) => ({
      id: `theme.${theme}`,
      title: `Theme: ${theme}`,
      group: "Appearance",
      run: () => prefer({ theme }),
    })),
  ]);
}
