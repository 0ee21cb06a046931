import type { Sidecar } from "./sidecar.ts";

/** The panel's requests. A webview gets neither the token nor a connection of its own. */
export type PanelRequest =
  | {
      readonly type: "fetch";
      readonly id: number;
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  | { readonly type: "abort"; readonly id: number };

export type PanelAnswer =
  | { readonly type: "head"; readonly id: number; readonly status: number; readonly headers: Record<string, string> }
  | { readonly type: "chunk"; readonly id: number; readonly text: string }
  | { readonly type: "end"; readonly id: number; readonly error?: string };

const METHODS = new Set(["GET", "POST", "PUT"]);
const HEADERS = new Set(["content-type", "idempotency-key", "last-event-id", "accept"]);
const MOST_OPEN = 64;

export function isPanelRequest(data: unknown): data is PanelRequest {
  const { type, id, path, headers } = (data ?? {}) as Record<string, unknown>;
  if (typeof id !== "number") return false;
  return type === "abort" || (type === "fetch" && typeof path === "string" && typeof headers === "object");
}

/** A path of the API that the panel may use: no other address, and nothing that hands out tokens or tickets. */
export function isAllowed(path: string): boolean {
  const base = "http://sidecar.invalid";
  const { origin, pathname } = new URL(path, base);
  if (!path.startsWith("/") || origin !== base) return false;
  return (
    pathname === "/health" ||
    (pathname.startsWith("/api/brain/") && !/^\/api\/brain\/(session|bridge)\b/.test(pathname))
  );
}

/** Carries out the requests of one webview, and streams the answers back. */
export class PanelProxy {
  readonly #open = new Map<number, AbortController>();

  constructor(
    private readonly sidecar: Sidecar,
    private readonly post: (answer: PanelAnswer) => void,
  ) {}

  receive(request: PanelRequest): void {
    if (request.type === "abort") this.#open.get(request.id)?.abort();
    else void this.#carryOut(request);
  }

  /** Ends every request; the webview is gone. */
  close(): void {
    for (const stop of this.#open.values()) stop.abort();
  }

  async #carryOut({ id, method, path, headers, body }: PanelRequest & { type: "fetch" }): Promise<void> {
    if (!METHODS.has(method) || !isAllowed(path) || this.#open.size >= MOST_OPEN || this.#open.has(id)) {
      return this.post({ type: "end", id, error: "This request isn't allowed." });
    }
    const stop = new AbortController();
    this.#open.set(id, stop);
    try {
      const sent = Object.entries(headers).filter(([name]) => HEADERS.has(name.toLowerCase()));
      const init: RequestInit = { method, headers: sent, signal: stop.signal };
      if (body !== undefined) init.body = body;
      const answer = await this.sidecar.fetch(path, init);
      const type = answer.headers.get("content-type");
      this.post({ type: "head", id, status: answer.status, headers: type === null ? {} : { "content-type": type } });
      const decoder = new TextDecoder();
      for await (const bytes of answer.body ?? [])
        this.post({ type: "chunk", id, text: decoder.decode(bytes, { stream: true }) });
      this.post({ type: "end", id });
    } catch (error) {
      this.post({ type: "end", id, error: error instanceof Error ? error.message : String(error) });
    } finally {
      this.#open.delete(id);
    }
  }
}
