import type { SessionToken } from "../wire/types.ts";
import { parseProblem, Unreachable } from "./problem.ts";

/** Supplies the bearer token, and a new one after the sidecar restarts. */
export interface Credentials {
  token(): string | undefined;
  /** Resolves to true if there is a new token to try. */
  renew(): Promise<boolean>;
}

/** A token that never changes. */
export const fixedToken = (token: string): Credentials => ({ token: () => token, renew: async () => false });

type Storage = Pick<globalThis.Storage, "getItem" | "setItem" | "removeItem">;

const KEY = "rainy-brain.session";

/**
 * The panel's session: it trades a one-time code for the token. The token and its renewal code stay in the storage of
 * this origin and tab, and go to this origin only.
 */
export class CodeSession implements Credentials {
  #session: SessionToken | undefined;
  #renewing: Promise<boolean> | undefined;

  constructor(
    private readonly storage: Storage,
    private readonly fetch: typeof globalThis.fetch = globalThis.fetch.bind(globalThis),
    private readonly path = "/api/brain/session",
  ) {
    this.#session = load(storage);
  }

  token(): string | undefined {
    return this.#session?.token;
  }

  /** Throws if the code is unknown, used or expired. */
  async trade(code: string): Promise<void> {
    this.#store(await this.#request(code));
  }

  /** Calls that find the token expired at the same time share one renewal. */
  renew(): Promise<boolean> {
    this.#renewing ??= this.#renewOnce().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  forget(): void {
    this.#session = undefined;
    this.storage.removeItem(KEY);
  }

  async #renewOnce(): Promise<boolean> {
    const renewal = this.#session?.renewal;
    if (renewal === undefined) return false;
    try {
      this.#store(await this.#request(renewal));
      return true;
    } catch (error) {
      if (error instanceof Unreachable) throw error;
      return false;
    }
  }

  async #request(code: string): Promise<SessionToken> {
    let response: Response;
    try {
      response = await this.fetch(this.path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ code }),
      });
    } catch (cause) {
      throw new Unreachable(cause);
    }
    if (!response.ok) throw await parseProblem(response);
    return (await response.json()) as SessionToken;
  }

  #store(session: SessionToken): void {
    this.#session = session;
    this.storage.setItem(KEY, JSON.stringify(session));
  }
}

function load(storage: Storage): SessionToken | undefined {
  try {
    const session = JSON.parse(storage.getItem(KEY) ?? "null") as SessionToken | null;
    return typeof session?.token === "string" ? session : undefined;
  } catch {
    return undefined;
  }
}
