import type { ChallengeAnswer, Renewal, SessionToken } from "../wire/types.ts";
import { ProblemError, parseProblem, Unreachable } from "./problem.ts";

/** Supplies the bearer token, and a new one after the sidecar restarts. */
export interface Credentials {
  token(): string | undefined;
  /** Resolves to true if there is a new token to try. */
  renew(): Promise<boolean>;
  /** The connection broke: another program may have the sidecar's port by now. */
  doubt?(): void;
  /** After a doubt: resolves when the sidecar has proven itself, throws if it can't. Called before each request. */
  assure?(): Promise<void>;
}

/** A token that never changes. */
export const fixedToken = (token: string): Credentials => ({ token: () => token, renew: async () => false });

type Storage = Pick<globalThis.Storage, "getItem" | "setItem" | "removeItem">;

const KEY = "rainy-brain.session";
const PATH = "/api/brain/session";
const HMAC = { name: "HMAC", hash: "SHA-256" };
const text = new TextEncoder();

/**
 * The panel's session: it trades a one-time code for the token, and gets the next token after a restart by proving that
 * it knows the renewal's key, once the sidecar has proven the same.
 *
 * Only the token is stored; it is void after a restart. The key stays in memory: a program that takes over the sidecar's
 * port also serves the next page of this origin, and that page can read the storage.
 */
export class CodeSession implements Credentials {
  #token: string | undefined;
  #renewal: { readonly id: string; readonly key: CryptoKey } | undefined;
  #renewing: Promise<boolean> | undefined;
  #doubted = false;

  constructor(
    private readonly storage: Storage,
    private readonly fetch: typeof globalThis.fetch = globalThis.fetch.bind(globalThis),
    private readonly url = "",
  ) {
    this.#token = load(storage);
  }

  token(): string | undefined {
    return this.#token;
  }

  /** Throws if the code is unknown, used or expired. */
  async trade(code: string): Promise<void> {
    const session = await this.#post<SessionToken>("", { code });
    this.#store(session.token);
    await this.#hold(session.renewal ?? undefined);
  }

  /** After a reload: gets a new renewal with the stored token, if that is still valid. */
  async restore(): Promise<void> {
    if (this.#token === undefined || this.#renewal !== undefined) return;
    try {
      await this.#hold(await this.#post<Renewal>("/renewal", undefined, { Authorization: `Bearer ${this.#token}` }));
    } catch {
      // The next request says what is wrong.
    }
  }

  /** Calls that find the token expired at the same time share one renewal. Throws if another program answers. */
  renew(): Promise<boolean> {
    this.#renewing ??= this.#renewOnce().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  doubt(): void {
    this.#doubted = this.#renewal !== undefined;
  }

  async assure(): Promise<void> {
    if (this.#doubted && !(await this.renew()))
      throw new ProblemError(401, "not_renewed", "This session has ended. Run `brain open`.", "Not authenticated");
  }

  forget(): void {
    this.#token = this.#renewal = undefined;
    this.#doubted = false;
    this.storage.removeItem(KEY);
  }

  async #renewOnce(): Promise<boolean> {
    if (this.#renewal === undefined) return false;
    const { id, key } = this.#renewal;
    const asked = encode(crypto.getRandomValues(new Uint8Array(32)));
    try {
      const { nonce, proof } = await this.#post<ChallengeAnswer>("/challenge", { id, nonce: asked });
      const lines = (who: string) =>
        text.encode(["rainy-brain session 1", who, this.#authority(), id, asked, nonce].join("\n"));
      if (!(await crypto.subtle.verify(HMAC, key, decode(proof), lines("sidecar")))) throw new Impostor();
      const own = encode(new Uint8Array(await crypto.subtle.sign(HMAC, key, lines("panel"))));
      this.#store((await this.#post<SessionToken>("/proof", { id, nonce, proof: own })).token);
      this.#doubted = false;
      return true;
    } catch (error) {
      if (error instanceof ProblemError && error.status === 401) return false;
      throw error instanceof Unreachable ? error : new Unreachable(error);
    }
  }

  async #hold(renewal: Renewal | undefined): Promise<void> {
    // Without a secure context there is no WebCrypto; the panel then needs a new code after a restart.
    if (renewal === undefined || globalThis.crypto?.subtle === undefined) return;
    const key = await crypto.subtle.importKey("raw", text.encode(renewal.key), HMAC, false, ["sign", "verify"]);
    this.#renewal = { id: renewal.id, key };
    this.#doubted = false;
  }

  async #post<T>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
    let response: Response;
    try {
      response = await this.fetch(this.url + PATH + path, {
        method: "POST",
        headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (cause) {
      throw new Unreachable(cause);
    }
    if (!response.ok) throw await parseProblem(response);
    try {
      return (await response.json()) as T;
    } catch (cause) {
      throw new Unreachable(cause);
    }
  }

  #authority(): string {
    return new URL(this.url === "" ? globalThis.location.href : this.url).host;
  }

  #store(token: string): void {
    this.#token = token;
    this.storage.setItem(KEY, JSON.stringify({ token }));
  }
}

class Impostor extends Error {
  override readonly message = "Another program answers at the sidecar's address.";
}

const encode = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const decode = (encoded: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(encoded.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));

function load(storage: Storage): string | undefined {
  try {
    const session = JSON.parse(storage.getItem(KEY) ?? "null") as { token?: unknown } | null;
    return typeof session?.token === "string" ? session.token : undefined;
  } catch {
    return undefined;
  }
}
