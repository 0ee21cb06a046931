import { PAGES, type Page } from "../features/settings/pages.ts";
import { MODES } from "../shared/modes.ts";
import { showCode } from "../stores/code.ts";
import { useCommands } from "../stores/commands.ts";
import { focusComposer } from "../stores/composer.ts";
import { preferences, setPreferences, type Theme } from "../stores/preferences.ts";
import { showToast } from "../stores/toasts.ts";

interface Options {
  readonly wide: boolean;
  readonly onOpen: (overlay: "palette" | "history" | "dashboard" | Page) => void;
  readonly onNew: () => void;
  readonly onWindow: () => void;
}

const THEMES: readonly Theme[] = ["system", "light", "dark", "contrast"];
const MODE_NAMES = MODES.map(({ label }) => label.toLowerCase()).join(", ");

/** The settings pages with a slash command of their own. */
const SETTINGS: readonly (readonly [Page, string])[] = [
  ["models", "models"],
  ["approvals", "allowed"],
  ["health", "doctor"],
  ["about", "about"],
];

export function useAppCommands({ wide, onOpen, onNew, onWindow }: Options): void {
  const sidebar = () => (wide ? setPreferences({ sidebar: !preferences().sidebar }) : onOpen("history"));
  const choose = ({ value, label, hint }: (typeof MODES)[number]) => {
    setPreferences({ approvals: value });
    showToast(`${label}: ${hint}.`);
  };
  const approve = (argument: string) => {
    const mode = MODES.find(({ value, label }) => [label.toLowerCase(), value].includes(argument.toLowerCase()));
    if (mode) choose(mode);
    else showToast(`Choose one of: ${MODE_NAMES}.`);
  };
  useCommands([
    { id: "app.new", title: "New task", group: "Panel", keys: "alt+n", slash: "new", run: onNew },
    { id: "app.palette", title: "Command palette", group: "Panel", keys: "mod+k", run: () => onOpen("palette") },
    { id: "app.dashboard", title: "Dashboard", group: "Panel", slash: "dashboard", run: () => onOpen("dashboard") },
    {
      id: "app.find",
      title: "Find in code",
      group: "Code",
      keys: "mod+shift+f",
      slash: "find",
      takesText: true,
      run: (text) => showCode("find", text),
    },
    {
      id: "app.graph",
      title: "Graph of imports and impact",
      group: "Code",
      slash: "graph",
      takesText: true,
      run: (text) => showCode("graph", text),
    },
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
      title: "Show or hide tasks",
      group: "Panel",
      keys: "mod+b",
      slash: "history",
      run: sidebar,
    },
    {
      id: "app.compose",
      title: "Focus the composer",
      group: "Panel",
      keys: "mod+i",
      run: focusComposer,
    },
    { id: "app.window", title: "Open in a new window", group: "Panel", slash: "window", run: onWindow },
    {
      id: "app.changes",
      title: "Focus the changes",
      group: "Panel",
      keys: "alt+c",
      slash: "changes",
      run: () => document.querySelector<HTMLElement>("[data-hunk]")?.focus(),
    },
    {
      id: "app.conversation",
      title: "Focus the conversation",
      group: "Panel",
      keys: "alt+l",
      run: () => document.querySelector<HTMLElement>("[role=log]")?.focus(),
    },
    {
      id: "app.approvals",
      title: "Approval mode",
      group: "Approvals",
      slash: "approvals",
      takesText: true,
      hint: MODE_NAMES,
      run: approve,
    },
    ...MODES.map((mode) => ({
      id: `approvals.${mode.value}`,
      title: `${mode.label}: ${mode.hint}`,
      group: "Approvals",
      run: () => choose(mode),
    })),
    ...THEMES.map((theme) => ({
      id: `theme.${theme}`,
      title: `Theme: ${theme === "contrast" ? "high contrast" : theme}`,
      group: "Appearance",
      run: () => setPreferences({ theme }),
    })),
  ]);
}
