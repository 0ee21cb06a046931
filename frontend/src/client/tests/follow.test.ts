import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { backoffMs } from "../backoff.ts";
import type { Connection } from "../follow.ts";
import { ProblemError } from "../problem.ts";
import { BrainService } from "../service.ts";
import { fixedToken } from "../session.ts";
import { STORY } from "./events.ts";
import { json, problem, ScriptedSidecar, stream } from "./sidecar.ts";

const durableEvents = STORY.filter((event) => event.seq !== undefined);

async function collect(sidecar: ScriptedSidecar, after = 0) {
  const service = new BrainService({ credentials: fixedToken("secret"), fetch: sidecar.fetch });
  const seqs: (number | undefined)[] = [];
  const states: Connection["state"][] = [];
  const onConnection = ({ state }: Connection) => states.push(state);
  for await (const batch of service.follow("t", { after, onConnection })) seqs.push(...batch.map((event) => event.seq));
  return { seqs, states };
}

describe("a stream", () => {
  beforeEach(() => {
    vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 100 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is read until the task ends, in chunks of any size", async () => {
    for (const chunk of [1, 7, 64, 100_000]) {
      const sidecar = new ScriptedSidecar([stream(durableEvents, { chunk })]);
      expect((await collect(sidecar)).seqs).toEqual(durableEvents.map((event) => event.seq));
      expect(sidecar.requests[0]?.headers.get("authorization")).toBe("Bearer secret");
      expect(sidecar.requests[0]?.path).not.toContain("secret");
    }
  });

  it("resumes after the last event when the connection breaks, with no gap and no repeat", async () => {
    const sidecar = new ScriptedSidecar([
      stream(durableEvents.slice(0, 5), { breaks: true }),
      new TypeError("connection refused"),
      problem(503, "stopping", { "Retry-After": "1" }),
      stream(durableEvents.slice(5, 9), { breaks: true }),
      stream(durableEvents.slice(9)),
    ]);
    const { seqs, states } = await collect(sidecar);
    expect(seqs).toEqual(durableEvents.map((event) => event.seq));
    expect(sidecar.requests.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, "5", "5", "5", "9"]);
    expect(states).toEqual(["connecting", "live", "lost", "lost", "lost", "live", "lost", "live", "closed"]);
  });

  it("reconnects when the sidecar closes it before the task ends", async () => {
    const sidecar = new ScriptedSidecar([stream(durableEvents.slice(0, 3)), stream(durableEvents.slice(3))]);
    expect((await collect(sidecar)).seqs).toEqual(durableEvents.map((event) => event.seq));
  });

  it("asks for the status when the stream has no new events", async () => {
    const last = durableEvents.at(-1)!.seq!;
    const sidecar = new ScriptedSidecar([stream([]), json({ status: "completed" })]);
    expect((await collect(sidecar, last)).seqs).toEqual([]);
  });

  it("throws errors that a retry can't fix", async () => {
    const sidecar = new ScriptedSidecar([problem(404, "unknown_task")]);
    await expect(collect(sidecar)).rejects.toThrow(ProblemError);
  });

  it("stops when its signal aborts", async () => {
    const stop = new AbortController();
    const sidecar = new ScriptedSidecar([new TypeError("refused"), new TypeError("refused")]);
    const service = new BrainService({ credentials: fixedToken("x"), fetch: sidecar.fetch });
    const events = service.follow("t", {
      signal: stop.signal,
      onConnection: ({ state }) => state === "lost" && stop.abort(),
    });
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });
});

describe("backoff", () => {
  it("doubles up to three seconds, with jitter", () => {
    expect([1, 2, 3, 10].map((attempt) => backoffMs(attempt, () => 1))).toEqual([150, 300, 600, 3_000]);
    expect(backoffMs(10, () => 0)).toBe(1_500);
  });
});
