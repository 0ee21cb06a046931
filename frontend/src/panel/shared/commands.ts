import { useEffect, useRef } from "react";
import { Store, useStore } from "./store.ts";

/** Something that can be done, by the palette, by keys, or by a slash. */
export interface Command {
  readonly id: string;
  readonly title: string;
  readonly group: string;
  /** As in `mod+shift+k`; `mod` is Cmd on a Mac and Ctrl elsewhere. */
  readonly keys?: string;
  /** The word after the slash in the composer. */
  readonly slash?: string;
  /** Whether words may stand after that; without this it is a command only where it stands alone. */
  readonly takesWords?: boolean;
  readonly hint?: string;
  readonly run: (argument: string) => void;
}

const registry = new Store<ReadonlyMap<string, Command>>(new Map());

export const useAllCommands = (): ReadonlyMap<string, Command> => useStore(registry);
export const allCommands = registry.get;

/** Offers commands as long as the component is there. */
export function useCommands(commands: readonly (Command | false)[]): void {
  const latest = useRef(commands);
  latest.current = commands;
  const shape = commands.map((command) => command && `${command.id}|${command.title}|${command.hint}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: what a command does is looked up when it is run
  useEffect(() => {
    const offered = latest.current.filter((command): command is Command => command !== false);
    registry.update((before) => {
      const next = new Map(before);
      for (const command of offered)
        next.set(command.id, { ...command, run: (argument) => now(command.id)?.run(argument) });
      return next;
    });
    const now = (id: string) => latest.current.find((command): command is Command => command && command.id === id);
    return () => {
      registry.update((before) => {
        const next = new Map(before);
        for (const command of offered) next.delete(command.id);
        return next;
      });
    };
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

const SIGNS: Record<string, string> = isMac
  ? { mod: "⌘", shift: "⇧", alt: "⌥", ctrl: "⌃", enter: "↵", escape: "Esc" }
  : { mod: "Ctrl", shift: "Shift", alt: "Alt", ctrl: "Ctrl", enter: "Enter", escape: "Esc" };

export const keySigns = (keys: string): string[] => keys.split("+").map((key) => SIGNS[key] ?? key.toUpperCase());

/** Runs the command whose keys are pressed, wherever the focus is. Ctrl works beside Cmd on a Mac too. */
export function useCommandKeys(): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      for (const command of registry.get().values()) {
        if (command.keys === undefined) continue;
        const also = command.keys.replace("mod", "ctrl");
        if (!matches(event, command.keys) && !matches(event, also)) continue;
        event.preventDefault();
        command.run("");
        return;
      }
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}
