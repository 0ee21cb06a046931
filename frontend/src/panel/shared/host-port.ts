import { Store, useStore } from "./store.ts";

/** What the window around the panel can do, if there is one; see features/host. */
export type Offer = "insert" | "openFile";

export interface HostPort {
  readonly offers: ReadonlySet<Offer>;
  readonly send: (message: Record<string, unknown>) => void;
}

export const hostPort = new Store<HostPort | undefined>(undefined);

export const useHostOffers = (offer: Offer): boolean => useStore(hostPort)?.offers.has(offer) ?? false;
export const tellHost = (message: Record<string, unknown>): void => hostPort.get()?.send(message);
export const insertInEditor = (text: string): void => tellHost({ type: "rainy.insert", text });
export const openInEditor = (path: string, line?: number): void =>
  tellHost({ type: "rainy.openFile", path, ...(line === undefined ? {} : { line }) });
