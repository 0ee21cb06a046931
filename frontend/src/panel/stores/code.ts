import { merge, Store, useStore } from "./store.ts";

/** What the dialog about code shows: places that match words, or what depends on a file or a symbol. */
export interface CodeView {
  readonly view: "find" | "graph";
  readonly text: string;
}

interface State {
  readonly shown: CodeView | undefined;
}

const store = new Store<State, Partial<State>>({ shown: undefined }, merge);

export const useCodeView = (): CodeView | undefined => useStore(store).shown;
export const showCode = (view: CodeView["view"], text = ""): void => store.dispatch({ shown: { view, text } });
export const closeCode = (): void => store.dispatch({ shown: undefined });
