import type { Attachment } from "../../wire/types.ts";
import { selectedTask, useSelectedTask } from "./location.ts";
import { Store, useStore } from "./store.ts";

/** What you have written for a task, or for a new one, and not sent. */
interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

interface ComposerState {
  readonly drafts: ReadonlyMap<string, Draft>;
  /** Counts the requests to focus the composer. */
  readonly focusRequests: number;
}

type Action = { readonly draft: string; readonly change: Partial<Draft>; readonly focus?: boolean };

const NEW = "new";
const EMPTY: Draft = { text: "", attachments: [] };
const MOST_DRAFTS = 50;

function reduce(state: ComposerState, { draft, change, focus }: Action): ComposerState {
  const next = { ...(state.drafts.get(draft) ?? EMPTY), ...change };
  const others = [...state.drafts].filter(([key]) => key !== draft).slice(1 - MOST_DRAFTS);
  const kept = next.text === "" && next.attachments.length === 0 ? others : [...others, [draft, next] as const];
  return { drafts: new Map(kept), focusRequests: state.focusRequests + (focus ? 1 : 0) };
}

const KEY = "rainy-brain.drafts";

function load(): Map<string, Draft> {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as [string, string][];
    return new Map(found.map(([key, text]) => [key, { ...EMPTY, text: String(text) }]));
  } catch {
    return new Map();
  }
}

const store = new Store<ComposerState, Action>({ drafts: load(), focusRequests: 0 }, reduce);

store.subscribe(() => {
  try {
    const texts = [...store.get().drafts].map(([key, { text }]) => [key, text]);
    sessionStorage.setItem(KEY, JSON.stringify(texts));
  } catch {
    // Without storage a reload loses the drafts.
  }
});

/** The draft of the selected task. */
export const currentDraft = (): string => selectedTask() ?? NEW;

export function useComposer(): Draft & Pick<ComposerState, "focusRequests"> {
  const { drafts, focusRequests } = useStore(store);
  return { ...(drafts.get(useSelectedTask() ?? NEW) ?? EMPTY), focusRequests };
}

const textNow = (): string => store.get().drafts.get(currentDraft())?.text ?? "";

/** `writeComposer` is what the composer itself does; the others come from elsewhere in the panel and focus it. */
export const writeComposer = (text: string): void => store.dispatch({ draft: currentDraft(), change: { text } });
export const attachToComposer = (attachments: readonly Attachment[]): void =>
  store.dispatch({ draft: currentDraft(), change: { attachments } });
export const discardDraft = (draft: string): void => store.dispatch({ draft, change: EMPTY });
export const replaceComposer = (text: string): void =>
  store.dispatch({ draft: currentDraft(), change: { text }, focus: true });
export const appendToComposer = (text: string): void => replaceComposer(textNow() + text);
export const focusComposer = (): void => appendToComposer("");
