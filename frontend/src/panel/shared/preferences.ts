import type { Options } from "../../wire/types.ts";
import { Store, useStore } from "./store.ts";

export type Theme = "system" | "light" | "dark" | "contrast";

/** What the person chose in this browser. Nothing here says where anything is sent. */
export interface Preferences {
  readonly theme: Theme;
  readonly approvals: NonNullable<Options["approvals"]>;
  /** One model for every role, or the sidecar's own choice. */
  readonly model: string | null;
  readonly maxMinutes: number;
  readonly maxCostUsd: number | null;
  readonly notifications: boolean;
  readonly sidebar: boolean;
  readonly sideBySide: boolean;
}

const DEFAULTS: Preferences = {
  theme: "system",
  approvals: "ask",
  model: null,
  maxMinutes: 60,
  maxCostUsd: null,
  notifications: false,
  sidebar: true,
  sideBySide: false,
};
const KEY = "rainy-brain.preferences";

function read(): Preferences {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Preferences>) };
  } catch {
    return DEFAULTS;
  }
}

const store = new Store<Preferences>(typeof localStorage === "undefined" ? DEFAULTS : read());

export const preferences = store.get;
export const usePreferences = (): Preferences => useStore(store);

export function prefer(change: Partial<Preferences>): void {
  store.update((before) => ({ ...before, ...change }));
  try {
    localStorage.setItem(KEY, JSON.stringify(store.get()));
  } catch {
    // A browser that keeps nothing is still good for this visit.
  }
}

/** Another tab of the panel chose something. */
if (typeof window !== "undefined") {
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) store.set(read());
  });
}
