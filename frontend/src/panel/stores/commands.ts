import { useEffect, useRef } from "react";
import { Store, useStore } from "./store.ts";

/** An action that the palette, a key or a slash command runs. */
export interface Command {
  readonly id: string;
  readonly title: string;
  readonly group: string;
  /** As in `mod+shift+k`; `mod` is Cmd on a Mac and Ctrl elsewhere. */
  readonly keys?: string;
  /** The word after the slash in the composer. */
  readonly slash?: string;
  /** Takes the text after the slash command; without this, the command takes no text. */
  readonly takesText?: boolean;
  readonly hint?: string;
  readonly run: (argument: string) => void;
}

type Registry = ReadonlyMap<string, Command>;
type Action = { readonly add: readonly Command[] } | { readonly remove: readonly Command[] };

const registry = new Store<Registry, Action>(new Map(), (before, action) => {
  const next = new Map(before);
  if ("add" in action) for (const command of action.add) next.set(command.id, command);
  else for (const { id } of action.remove) next.delete(id);
  return next;
});

export const useAllCommands = (): Registry => useStore(registry);
export const allCommands = registry.get;

/** Registers commands while the component is mounted. */
export function useCommands(commands: readonly (Command | false)[]): void {
  const latest = useRef(commands);
  latest.current = commands;
  const shape = commands.map((command) => command && `${command.id}|${command.title}|${command.hint}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the registered commands look up `run` when they run
  useEffect(() => {
    const find = (id: string) => latest.current.find((command): command is Command => command && command.id === id);
    const registered = latest.current
      .filter((command): command is Command => command !== false)
      .map((command) => ({ ...command, run: (argument: string) => find(command.id)?.run(argument) }));
    registry.dispatch({ add: registered });
    return () => registry.dispatch({ remove: registered });
  }, [shape]);
}

const isMac = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

export function matches(event: KeyboardEvent, keys: string): boolean {
  const parts = keys.split("+");
  const key = parts.at(-1)!;
  const wants = (name: string) => parts.includes(name);
  const mod = wants("mod");
  return (
    event.key.toLowerCase() === key &&
    event.ctrlKey === (wants("ctrl") || (mod && !isMac)) &&
    event.metaKey === (mod && isMac) &&
    event.altKey === wants("alt") &&
    event.shiftKey === wants("shift")
  );
}

const KEY_LABELS: Record<string, string> = isMac
  ? { mod: "⌘", shift: "⇧", alt: "⌥", ctrl: "⌃", enter: "↵", escape: "Esc" }
  : { mod: "Ctrl", shift: "Shift", alt: "Alt", ctrl: "Ctrl", enter: "Enter", escape: "Esc" };

export const keyLabels = (keys: string): string[] => keys.split("+").map((key) => KEY_LABELS[key] ?? key.toUpperCase());

/** Runs the command whose keys are pressed, wherever the focus is. On a Mac, Ctrl works beside Cmd. */
export function useCommandKeys(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      for (const command of registry.get().values()) {
        if (command.keys === undefined) continue;
        const withCtrl = command.keys.replace("mod", "ctrl");
        if (!matches(event, command.keys) && !matches(event, withCtrl)) continue;
        event.preventDefault();
        command.run("");
        return;
      }
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}
