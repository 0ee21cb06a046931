import { useSyncExternalStore } from "react";

/** A state that changes through one pure reducer. Components read it with `useStore`. */
export class Store<State, Action> {
  #state: State;
  #listeners = new Set<() => void>();

  constructor(
    initial: State,
    private readonly reduce: (state: State, action: Action) => State,
  ) {
    this.#state = initial;
  }

  readonly get = (): State => this.#state;

  readonly dispatch = (action: Action): void => {
    const next = this.reduce(this.#state, action);
    if (Object.is(next, this.#state)) return;
    this.#state = next;
    for (const listener of this.#listeners) listener();
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

export const useStore = <State, Action>(store: Store<State, Action>): State =>
  useSyncExternalStore(store.subscribe, store.get, store.get);

/** The reducer of a record whose fields change independently. */
export const merge = <State extends object>(state: State, change: Partial<State>): State => ({ ...state, ...change });
