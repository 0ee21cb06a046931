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
    const handle = await service(sidecar).execute({ task: "run the tests" }, "key");
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
    const full = await brain.execute({ task: "x" }).catch((error: unknown) => error);
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

describe("a session", () => {
  it("trades its code once, and renews its token after a restart", async () => {
    const sidecar = new ScriptedSidecar([
      json({ token: "old", renewal: "renew-me" }),
      json({ agents: [] }),
      problem(401, "unauthenticated"),
      json({ token: "new", renewal: "renew-me" }),
      json({ agents: [] }),
    ]);
    const storage = new Memory();
    const session = new CodeSession(storage, sidecar.fetch);
    await session.trade("code");
    const brain = new BrainService({ credentials: session, fetch: sidecar.fetch });
    await brain.agents();
    await brain.agents();
    expect(sidecar.requests.map(({ headers }) => headers.get("authorization"))).toEqual([
      null,
      "Bearer old",
      "Bearer old",
      null,
      "Bearer new",
    ]);
    expect(sidecar.requests[3]?.body).toEqual({ code: "renew-me" });
    expect(new CodeSession(storage, sidecar.fetch).token()).toBe("new");
  });

  it("renews once for concurrent calls", async () => {
    const storage = new Memory();
    const sidecar = new ScriptedSidecar([json({ token: "a", renewal: "r" }), json({ token: "b", renewal: "r" })]);
    const session = new CodeSession(storage, sidecar.fetch);
    await session.trade("code");
    expect(await Promise.all([session.renew(), session.renew(), session.renew()])).toEqual([true, true, true]);
    expect(sidecar.requests).toHaveLength(2);
  });

  it("ends when the sidecar rejects the renewal", async () => {
    const sidecar = new ScriptedSidecar([
      json({ token: "a", renewal: "r" }),
      problem(401, "x"),
      problem(401, "bad_code"),
    ]);
    const session = new CodeSession(new Memory(), sidecar.fetch);
    await session.trade("code");
    const brain = new BrainService({ credentials: session, fetch: sidecar.fetch });
    await expect(brain.status()).rejects.toMatchObject({ status: 401 });
  });
});
