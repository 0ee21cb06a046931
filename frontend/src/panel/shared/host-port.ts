import { Store, useStore } from "./store.ts";

/** What the window around the panel can do, if there is one; see features/host. */
export type Offer = "insert" | "openFile";

export interface HostPort {
  readonly offers: ReadonlySet<Offer>;
  readonly send: (message: Record<string, unknown>) => void;
}

export const hostPort = new Store<HostPort | undefined>(undefined);

export const useHostOffers = (offer: Offer): boolean => useStore(hostPort)?.offers.has(offer) ?? false;
export const insertInEditor = (text: string): void => hostPort.get()?.send({ type: "rainy.insert", text });
export const openInEditor = (path: string, line?: number): void =>
  hostPort.get()?.send({ type: "rainy.openFile", path, ...(line === undefined ? {} : { line }) });
