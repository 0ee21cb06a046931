import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isMissingRoute, isNotFound, ProblemError, Unreachable } from "../problem.ts";
import { BrainService } from "../service.ts";
import { CodeSession, fixedToken } from "../session.ts";
import { json, problem, ScriptedSidecar } from "./sidecar.ts";

const service = (sidecar: ScriptedSidecar) =>
  new BrainService({ credentials: fixedToken("secret"), fetch: sidecar.fetch });

describe("the service", () => {
  it("sends the idempotency key", async () => {
    const sidecar = new ScriptedSidecar([json({ taskId: "t_1", status: "queued", streamUrl: "" }, 202)]);
    const handle = await service(sidecar).submit({ task: "run the tests" }, "key");
    expect(handle.id).toBe("t_1");
    expect(sidecar.requests[0]).toMatchObject({
      method: "POST",
      path: "/api/brain/execute",
      body: { task: "run the tests" },
    });
    expect(sidecar.requests[0]?.headers.get("idempotency-key")).toBe("key");
  });

  it("escapes ids and parameters in paths", async () => {
    const sidecar = new ScriptedSidecar([json({}), json({}), json({ tasks: [], nextBefore: null })]);
    const brain = service(sidecar);
    await brain.approve("t/1", "a b", { decision: "allow", scope: "task" });
    await brain.rewind("t", 7);
    await brain.tasks({ status: ["failed", "cancelled"], limit: 5, before: "t_9" });
    expect(sidecar.requests.map(({ path }) => path)).toEqual([
      "/api/brain/tasks/t%2F1/approvals/a%20b",
      "/api/brain/tasks/t/rewind",
      "/api/brain/tasks?status=failed%2Ccancelled&limit=5&before=t_9",
    ]);
  });

  it("throws the sidecar's problem", async () => {
    const sidecar = new ScriptedSidecar([
      problem(429, "queue_full", { "Retry-After": "5" }),
      problem(404, "not_found"),
      problem(404, "unknown_task"),
    ]);
    const brain = service(sidecar);
    const full = await brain.submit({ task: "x" }).catch((error: unknown) => error);
    expect(full).toBeInstanceOf(ProblemError);
    expect(full).toMatchObject({
      status: 429,
      code: "queue_full",
      message: "because queue_full",
      retryAfterSeconds: 5,
    });
    const route = await brain.diff("t").catch((error: unknown) => error);
    expect([isMissingRoute(route), isNotFound(route)]).toEqual([true, true]);
    const task = await brain.task("t").catch((error: unknown) => error);
    expect([isMissingRoute(task), isNotFound(task)]).toEqual([false, true]);
  });

  it("throws Unreachable when nothing answers", async () => {
    const sidecar = new ScriptedSidecar([new TypeError("fetch failed")]);
    await expect(service(sidecar).status()).rejects.toThrow(Unreachable);
  });
});

class Memory {
  readonly kept = new Map<string, string>();
  getItem = (key: string) => this.kept.get(key) ?? null;
  setItem = (key: string, value: string) => void this.kept.set(key, value);
  removeItem = (key: string) => void this.kept.delete(key);
}

const URL_ = "http://127.0.0.1:3847";
const RENEWAL = { id: "i".repeat(24), key: "k".repeat(43) };

const hmac = (key: string, ...lines: string[]) =>
  createHmac("sha256", key)
    .update(["rainy-brain session 1", ...lines].join("\n"))
    .digest("base64url");

/** A sidecar that knows `key`, on `host`; what it is asked after the sign-in is in `requests`. */
class ProvingSidecar {
  readonly requests: { path: string; authorization: string | null; body: string }[] = [];
  token = "old";
  #asked = "";
  constructor(
    readonly key = RENEWAL.key,
    readonly host = "127.0.0.1:3847",
  ) {}

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const path = String(input).slice(URL_.length);
    const body = String(init?.body ?? "");
    const authorization = new Headers(init?.headers).get("authorization");
    this.requests.push({ path, authorization, body });
    const sent = body === "" ? {} : (JSON.parse(body) as { nonce: string; proof: string });
    if (path === "/api/brain/session") return json({ token: this.token, renewal: RENEWAL });
    if (path === "/api/brain/session/renewal") return json(RENEWAL);
    if (path === "/api/brain/session/challenge") {
      this.#asked = (sent as { nonce: string }).nonce;
      const nonce = "n".repeat(43);
      return json({ nonce, proof: hmac(this.key, "sidecar", this.host, RENEWAL.id, this.#asked, nonce) });
    }
    if (path === "/api/brain/session/proof") {
      const { nonce, proof } = sent as { nonce: string; proof: string };
      const right = proof === hmac(this.key, "panel", this.host, RENEWAL.id, this.#asked, nonce);
      return right ? json({ token: this.token }) : problem(401, "not_renewed");
    }
    return authorization === `Bearer ${this.token}` ? json({ agents: [] }) : problem(401, "unauthenticated");
  };
}

async function signedIn(sidecar: ProvingSidecar, storage = new Memory()) {
  let server = sidecar;
  const fetch: typeof globalThis.fetch = (...given) => server.fetch(...given);
  const session = new CodeSession(storage, fetch, URL_);
  await session.trade("code");
  const brain = new BrainService({ url: URL_, credentials: session, fetch });
  return {
    session,
    brain,
    replace: (other: ProvingSidecar) => {
      server = other;
    },
  };
}

describe("a session", () => {
  it("trades its code once, and renews its token after a restart", async () => {
    const sidecar = new ProvingSidecar();
    const storage = new Memory();
    const { brain } = await signedIn(sidecar, storage);
    await brain.agents();
    sidecar.token = "new";
    await brain.agents();
    expect(sidecar.requests.map(({ path }) => path.replace("/api/brain/", ""))).toEqual([
      "session",
      "agents",
      "agents",
      "session/challenge",
      "session/proof",
      "agents",
    ]);
    expect(new CodeSession(storage, sidecar.fetch, URL_).token()).toBe("new");
    expect([...storage.kept.values()].join()).not.toContain(RENEWAL.key);
    for (const { body } of sidecar.requests) expect(body).not.toContain(RENEWAL.key);
  });

  it("renews once for concurrent calls", async () => {
    const sidecar = new ProvingSidecar();
    const { session } = await signedIn(sidecar);
    expect(await Promise.all([session.renew(), session.renew(), session.renew()])).toEqual([true, true, true]);
    expect(sidecar.requests).toHaveLength(3);
  });

  it("gets a renewal again after a reload", async () => {
    const sidecar = new ProvingSidecar();
    const storage = new Memory();
    await signedIn(sidecar, storage);
    const reloaded = new CodeSession(storage, sidecar.fetch, URL_);
    await reloaded.restore();
    expect(await reloaded.renew()).toBe(true);
  });

  it("ends when the sidecar does not know it", async () => {
    const { brain, replace } = await signedIn(new ProvingSidecar());
    replace({ fetch: async () => problem(401, "x") } as unknown as ProvingSidecar);
    await expect(brain.status()).rejects.toMatchObject({ status: 401 });
  });

  it.each([
    ["another key", new ProvingSidecar("wrong")],
    ["another address", new ProvingSidecar(RENEWAL.key, "127.0.0.1:4000")],
  ])("proves nothing to a server with %s", async (_, impostor) => {
    const { brain, session, replace } = await signedIn(new ProvingSidecar());
    impostor.token = "theirs";
    replace(impostor);
    session.doubt();
    await expect(brain.setKey("openai", "sk-secret")).rejects.toThrow(Unreachable);
    await expect(brain.agents()).rejects.toThrow(Unreachable);
    expect(new Set(impostor.requests.map(({ path }) => path))).toEqual(new Set(["/api/brain/session/challenge"]));
    expect(impostor.requests.every(({ authorization }) => authorization === null)).toBe(true);
    expect(session.token()).toBe("old");
  });
});
