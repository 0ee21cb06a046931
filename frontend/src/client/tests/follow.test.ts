import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { backoffMs } from "../backoff.ts";
import type { Connection } from "../follow.ts";
import { ProblemError } from "../problem.ts";
import { BrainService } from "../service.ts";
import { fixedToken } from "../session.ts";
import { STORY } from "./events.ts";
import { json, problem, ScriptedSidecar, stream } from "./sidecar.ts";

const told = STORY.filter((event) => event.seq !== undefined);

async function heard(sidecar: ScriptedSidecar, after = 0) {
  const service = new BrainService({ credentials: fixedToken("secret"), fetch: sidecar.fetch });
  const seqs: (number | undefined)[] = [];
  const states: Connection["state"][] = [];
  const onConnection = ({ state }: Connection) => states.push(state);
  for await (const batch of service.stream("t", { after, onConnection })) seqs.push(...batch.map((event) => event.seq));
  return { seqs, states };
}

describe("a stream", () => {
  beforeEach(() => {
    vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 100 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is read to the end of the task, whatever the pieces in which it comes", async () => {
    for (const piece of [1, 7, 64, 100_000]) {
      const sidecar = new ScriptedSidecar([stream(told, { piece })]);
      expect((await heard(sidecar)).seqs).toEqual(told.map((event) => event.seq));
      expect(sidecar.requests[0]?.headers.get("authorization")).toBe("Bearer secret");
      expect(sidecar.requests[0]?.path).not.toContain("secret");
    }
  });

  it("goes on after the last event when the connection breaks, with no gap and no repeat", async () => {
    const sidecar = new ScriptedSidecar([
      stream(told.slice(0, 5), { breaks: true }),
      new TypeError("connection refused"),
      problem(503, "stopping", { "Retry-After": "1" }),
      stream(told.slice(5, 9), { breaks: true }),
      stream(told.slice(9)),
    ]);
    const { seqs, states } = await heard(sidecar);
    expect(seqs).toEqual(told.map((event) => event.seq));
    expect(sidecar.requests.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, "5", "5", "5", "9"]);
    expect(states).toEqual(["connecting", "live", "lost", "lost", "lost", "live", "lost", "live", "closed"]);
  });

  it("comes back when the sidecar lets go of it before the end", async () => {
    const sidecar = new ScriptedSidecar([stream(told.slice(0, 3)), stream(told.slice(3))]);
    expect((await heard(sidecar)).seqs).toEqual(told.map((event) => event.seq));
  });

  it("asks whether the task has ended when there is nothing new", async () => {
    const last = told.at(-1)!.seq!;
    const sidecar = new ScriptedSidecar([stream([]), json({ status: "completed" })]);
    expect((await heard(sidecar, last)).seqs).toEqual([]);
  });

  it("throws what trying again cannot mend", async () => {
    const sidecar = new ScriptedSidecar([problem(404, "unknown_task")]);
    await expect(heard(sidecar)).rejects.toThrow(ProblemError);
  });

  it("ends when it is told to", async () => {
    const stop = new AbortController();
    const sidecar = new ScriptedSidecar([new TypeError("refused"), new TypeError("refused")]);
    const service = new BrainService({ credentials: fixedToken("x"), fetch: sidecar.fetch });
    const events = service.stream("t", {
      signal: stop.signal,
      onConnection: ({ state }) => state === "lost" && stop.abort(),
    });
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });
});

describe("the time between two tries", () => {
  it("doubles up to three seconds, and is never the same for all", () => {
    expect([1, 2, 3, 10].map((attempt) => backoffMs(attempt, () => 1))).toEqual([150, 300, 600, 3_000]);
    expect(backoffMs(10, () => 0)).toBe(1_500);
  });
});
