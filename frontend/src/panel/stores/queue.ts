import type { Attachment } from "../../wire/types.ts";
import { Store, useStore } from "./store.ts";

/** A message that waits until the agent can hear it. */
export interface QueuedMessage {
  readonly id: string;
  readonly taskId: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

type Action = { readonly add: QueuedMessage } | { readonly remove: string };

const KEY = "rainy-brain.queue";
const MOST = 50;

function load(): QueuedMessage[] {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]") as QueuedMessage[];
  } catch {
    return [];
  }
}

const store = new Store<readonly QueuedMessage[], Action>(load(), (queue, action) =>
  "add" in action ? [...queue, action.add].slice(-MOST) : queue.filter(({ id }) => id !== action.remove),
);

store.subscribe(() => {
  try {
    localStorage.setItem(KEY, JSON.stringify(store.get()));
  } catch {
    // Too large, or no storage: the queue holds until the page is closed.
  }
});

export const queueOf = (taskId: string): readonly QueuedMessage[] =>
  store.get().filter((message) => message.taskId === taskId);
export const useQueue = (taskId: string): readonly QueuedMessage[] =>
  useStore(store).filter((message) => message.taskId === taskId);
export const enqueue = (message: Omit<QueuedMessage, "id">): void =>
  store.dispatch({ add: { ...message, id: crypto.randomUUID() } });
export const dequeue = (id: string): void => store.dispatch({ remove: id });
