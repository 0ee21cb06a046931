import type { PanelAnswer, PanelRequest } from "../src/proxy.ts";

export interface VsCode {
  postMessage(message: unknown): void;
  getState(): { readonly taskId?: string | undefined } | undefined;
  setState(state: { readonly taskId: string | undefined }): void;
}

interface Pending {
  readonly head: (response: Response) => void;
  readonly fail: (error: Error) => void;
  readonly body: ReadableStream<Uint8Array>;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
}

/** `fetch` through the extension, which knows the sidecar's address and token. */
export class Transport {
  readonly #pending = new Map<number, Pending>();
  readonly #encoder = new TextEncoder();
  #last = 0;

  constructor(private readonly vscode: VsCode) {
    window.addEventListener("message", ({ data }: MessageEvent<PanelAnswer>) => {
      const pending = typeof data?.id === "number" ? this.#pending.get(data.id) : undefined;
      if (pending !== undefined) this.#receive(data, pending);
    });
  }

  readonly fetch = (path: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    this.#last += 1;
    const id = this.#last;
    const { signal, body } = init;
    return new Promise((head, fail) => {
      const stop = () => {
        this.#post({ type: "abort", id });
        this.#end(id, signal?.reason instanceof Error ? signal.reason : new DOMException("Aborted", "AbortError"));
      };
      if (signal?.aborted) return fail(signal.reason);
      let controller!: ReadableStreamDefaultController<Uint8Array>;
      const stream = new ReadableStream<Uint8Array>({
        start: (given) => {
          controller = given;
        },
        cancel: () => {
          this.#pending.delete(id);
          this.#post({ type: "abort", id });
        },
      });
      this.#pending.set(id, { head, fail, body: stream, controller });
      signal?.addEventListener("abort", stop, { once: true });
      const headers = Object.fromEntries(new Headers(init.headers));
      this.#post({
        type: "fetch",
        id,
        method: init.method ?? "GET",
        path: String(path),
        headers,
        ...(typeof body === "string" ? { body } : {}),
      });
    });
  };

  #receive(answer: PanelAnswer, { head, body, controller }: Pending): void {
    switch (answer.type) {
      case "head": {
        const empty = [204, 205, 304].includes(answer.status);
        return head(new Response(empty ? null : body, { status: answer.status, headers: answer.headers }));
      }
      case "chunk":
        return controller.enqueue(this.#encoder.encode(answer.text));
      case "end":
        return this.#end(answer.id, answer.error === undefined ? undefined : new TypeError(answer.error));
    }
  }

  #end(id: number, error: Error | undefined): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    if (error === undefined) return pending.controller.close();
    pending.fail(error);
    pending.controller.error(error);
  }

  #post(request: PanelRequest): void {
    this.vscode.postMessage(request);
  }
}
