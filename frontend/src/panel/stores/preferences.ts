import type { Options } from "../../wire/types.ts";
import { merge, Store, useStore } from "./store.ts";

export type Theme = "system" | "light" | "dark" | "contrast";

/** The approvals of a task, or to plan first and ask whether to go ahead. */
export type Mode = NonNullable<Options["approvals"]> | "plan";

/** What you chose in this browser. Nothing here decides where data is sent. */
export interface Preferences {
  readonly theme: Theme;
  readonly approvals: Mode;
  /** One model for every role; null for the sidecar's configuration. */
  readonly model: string | null;
  /** How much a model that reasons should think; null for the sidecar's configuration. */
  readonly effort: NonNullable<Options["effort"]> | null;
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
  effort: null,
  maxMinutes: 60,
  maxCostUsd: null,
  notifications: false,
  sidebar: true,
  sideBySide: false,
};
const KEY = "rainy-brain.preferences";

function load(): Preferences {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Preferences>) };
  } catch {
    return DEFAULTS;
  }
}

const store = new Store<Preferences, Partial<Preferences>>(
  typeof localStorage === "undefined" ? DEFAULTS : load(),
  merge,
);

export const preferences = store.get;
export const usePreferences = (): Preferences => useStore(store);

export function setPreferences(change: Partial<Preferences>): void {
  store.dispatch(change);
  try {
    localStorage.setItem(KEY, JSON.stringify(store.get()));
  } catch {
    // Without storage the choice holds until the page is closed.
  }
}

// Another tab of the panel changed the preferences.
if (typeof window !== "undefined") {
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) store.dispatch(load());
  });
}
