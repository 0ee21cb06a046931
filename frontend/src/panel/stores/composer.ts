import { Store, useStore } from "./store.ts";

interface ComposerState {
  readonly text: string;
  /** Counts the requests to focus the composer. */
  readonly focusRequests: number;
}

type Action =
  | { readonly type: "write"; readonly text: string }
  | { readonly type: "replace"; readonly text: string }
  | { readonly type: "append"; readonly text: string };

/** `write` is what the composer itself does; the others come from elsewhere in the panel and focus it. */
function reduce(state: ComposerState, { type, text }: Action): ComposerState {
  if (type === "write") return { ...state, text };
  return { text: type === "append" ? state.text + text : text, focusRequests: state.focusRequests + 1 };
}

const KEY = "rainy-brain.draft";
const saved = typeof sessionStorage === "undefined" ? "" : (sessionStorage.getItem(KEY) ?? "");
const store = new Store<ComposerState, Action>({ text: saved, focusRequests: 0 }, reduce);

store.subscribe(() => {
  try {
    sessionStorage.setItem(KEY, store.get().text);
  } catch {
    // Without storage a reload loses the draft.
  }
});

export const useComposer = (): ComposerState => useStore(store);
export const writeComposer = (text: string): void => store.dispatch({ type: "write", text });
export const replaceComposer = (text: string): void => store.dispatch({ type: "replace", text });
export const appendToComposer = (text: string): void => store.dispatch({ type: "append", text });
export const focusComposer = (): void => appendToComposer("");
