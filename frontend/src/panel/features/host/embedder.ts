import { type HostMessage, isHostMessage } from "./protocol.ts";

/** How the panel talks to the page or editor around it. */
export interface Embedder {
  post(message: Record<string, unknown>): void;
  /** Calls back with each message from around the panel, until the returned function is called. */
  listen(receive: (message: HostMessage) => void): () => void;
}

/**
 * The window that embeds the panel, if there is one. The panel listens to that window only; the sidecar's policy
 * decides which pages may embed it.
 */
export function embeddingWindow(): Embedder | undefined {
  if (window.parent === window) return undefined;
  let origin: string | undefined;
  return {
    post(message) {
      // Any page may receive `rainy.ready`: it says only that the panel is ready.
      const target = origin ?? (message["type"] === "rainy.ready" ? "*" : undefined);
      if (target !== undefined) window.parent.postMessage(message, target);
    },
    listen(receive) {
      const onMessage = (event: MessageEvent<unknown>) => {
        if (event.source !== window.parent || !isHostMessage(event.data)) return;
        origin ??= event.origin;
        if (event.origin === origin) receive(event.data);
      };
      window.addEventListener("message", onMessage);
      return () => window.removeEventListener("message", onMessage);
    },
  };
}
