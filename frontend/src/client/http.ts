import { parseProblem, Unreachable } from "./problem.ts";
import type { Credentials } from "./session.ts";

export interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** One origin, one token. Every call of the library goes through this class. */
export class Http {
  constructor(
    private readonly base: string,
    private readonly credentials: Credentials,
    private readonly fetch: typeof globalThis.fetch = globalThis.fetch.bind(globalThis),
  ) {}

  async json<T>(path: string, call: Call = {}): Promise<T> {
    const response = await this.open(path, call);
    try {
      return (await response.json()) as T;
    } catch (cause) {
      throw call.signal?.aborted ? cause : this.#lost(cause);
    }
  }

  /** Returns the response before its body is read. Renews an expired token once. */
  async open(path: string, call: Call = {}): Promise<Response> {
    let response = await this.#send(path, call);
    if (response.status === 401 && (await this.credentials.renew())) response = await this.#send(path, call);
    if (!response.ok) throw await parseProblem(response);
    return response;
  }

  async #send(path: string, { method = "GET", body, headers, signal }: Call): Promise<Response> {
    await this.credentials.assure?.();
    const token = this.credentials.token();
    const init: RequestInit = {
      method,
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal) init.signal = signal;
    try {
      return await this.fetch(this.base + path, init);
    } catch (cause) {
      throw signal?.aborted ? cause : this.#lost(cause);
    }
  }

  /** A stream broke: the next server that answers has to prove that it is the sidecar. */
  doubt(): void {
    this.credentials.doubt?.();
  }

  #lost(cause: unknown): Unreachable {
    this.doubt();
    return new Unreachable(cause);
  }
}
