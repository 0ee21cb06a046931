import type { Context } from "../../wire/types.ts";
import { merge, Store, useStore } from "./store.ts";

/** What the window around the panel can do; see features/host. */
export type Offer = "insert" | "openFile";

export type HostContext = Pick<Context, "workspace" | "currentFile" | "selectedCode" | "openFiles">;

interface Host {
  readonly offers: ReadonlySet<Offer>;
  /** What the editor around the panel has open; it goes with the next task. */
  readonly context: HostContext;
  readonly send: (message: Record<string, unknown>) => void;
}

export const host = new Store<Host, Partial<Host>>({ offers: new Set(), context: {}, send: () => {} }, merge);

export const useHostWorkspace = (): string | undefined => useStore(host).context.workspace ?? undefined;
export const useHostOffers = (offer: Offer): boolean => useStore(host).offers.has(offer);
export const postToHost = (message: Record<string, unknown>): void => host.get().send(message);
export const insertInEditor = (text: string): void => postToHost({ type: "rainy.insert", text });
export const openInEditor = (path: string, line?: number): void =>
  postToHost({ type: "rainy.openFile", path, ...(line === undefined ? {} : { line }) });
