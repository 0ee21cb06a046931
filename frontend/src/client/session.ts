import type { SessionToken } from "../wire/types.ts";
import { problemOf, Unreachable } from "./problem.ts";

/** Whoever can give the bearer token, and perhaps a newer one when the sidecar has been started again. */
export interface Credentials {
  token(): string | undefined;
  /** Resolves to true if there is a new token to try. */
  renew(): Promise<boolean>;
}

/** A token that is known and stays the same. */
export const fixedToken = (token: string): Credentials => ({ token: () => token, renew: async () => false });

type Storage = Pick<globalThis.Storage, "getItem" | "setItem" | "removeItem">;

const KEY = "rainy-brain.session";

/**
 * The panel's way in: a one-time code becomes the token. The token and what renews it stay in the storage of this
 * origin and this tab, and are sent to this origin only.
 */
export class CodeSession implements Credentials {
  #held: SessionToken | undefined;
  #renewing: Promise<boolean> | undefined;

  constructor(
    private readonly storage: Storage,
    private readonly fetch: typeof globalThis.fetch = globalThis.fetch.bind(globalThis),
    private readonly path = "/api/brain/session",
  ) {
    this.#held = read(storage);
  }

  token(): string | undefined {
    return this.#held?.token;
  }

  /** Throws if the code is unknown, used or too old. */
  async trade(code: string): Promise<void> {
    this.#hold(await this.#ask(code));
  }

  /** Many calls may find at the same time that the token is old; they are renewed once. */
  renew(): Promise<boolean> {
    this.#renewing ??= this.#renewed().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  forget(): void {
    this.#held = undefined;
    this.storage.removeItem(KEY);
  }

  async #renewed(): Promise<boolean> {
    const renewal = this.#held?.renewal;
    if (renewal === undefined) return false;
    try {
      this.#hold(await this.#ask(renewal));
      return true;
    } catch (error) {
      if (error instanceof Unreachable) throw error;
      return false;
    }
  }

  async #ask(code: string): Promise<SessionToken> {
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
    if (!response.ok) throw await problemOf(response);
    return (await response.json()) as SessionToken;
  }

  #hold(session: SessionToken): void {
    this.#held = session;
    this.storage.setItem(KEY, JSON.stringify(session));
  }
}

function read(storage: Storage): SessionToken | undefined {
  try {
    const held = JSON.parse(storage.getItem(KEY) ?? "null") as SessionToken | null;
    return typeof held?.token === "string" ? held : undefined;
  } catch {
    return undefined;
  }
}
