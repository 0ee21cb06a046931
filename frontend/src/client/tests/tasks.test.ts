import { describe, expect, it } from "vitest";
import type { Task, WireEvent } from "../../wire/types.ts";
import { WatchRegistry } from "../registry.ts";
import { BrainService } from "../service.ts";
import { fixedToken } from "../session.ts";
import { reduceTasks, TaskFeed, type TaskList, upsert } from "../tasks.ts";
import { journal } from "./events.ts";
import { json, problem, ScriptedSidecar, stream } from "./sidecar.ts";

const task = (id: string, more: Partial<Task> = {}): Task =>
  ({
    id,
    task: id,
    status: "running",
    verified: null,
    createdAt: `2026-01-01T12:00:0${id.length}Z`,
    startedAt: null,
    endedAt: null,
    lastSeq: 1,
    ...more,
  }) as Task;
const event = (taskId: string, seq: number, more: object): WireEvent & { cursor: string } =>
  ({ taskId, seq, at: "2026-01-01T12:01:00Z", cursor: `c${seq}`, ...more }) as never;
const page = (tasks: Task[]) => json({ tasks, nextBefore: null });
const serviceOf = (sidecar: ScriptedSidecar) =>
  new BrainService({ credentials: fixedToken("secret"), fetch: sidecar.fetch });
const until = (store: { subscribe: (listener: () => void) => () => void }, holds: () => boolean) =>
  new Promise<() => void>((resolve) => {
    const stop = store.subscribe(() => holds() && resolve(stop));
    if (holds()) resolve(stop);
  });

describe("the list of tasks", () => {
  const list = [task("bb"), task("a")];

  it("applies events that a task shows, and returns the same list for others", () => {
    const next = reduceTasks(list, event("a", 2, { type: "status", status: "completed" }));
    expect(next[1]).toMatchObject({ status: "completed", endedAt: "2026-01-01T12:01:00Z", lastSeq: 2 });
    expect(next[0]).toBe(list[0]);
    expect(reduceTasks(list, event("a", 2, { type: "tool", tool: "read_file" }))).toBe(list);
    expect(reduceTasks(list, event("a", 1, { type: "status", status: "failed" }))).toBe(list);
    expect(reduceTasks(list, event("unknown", 9, { type: "status", status: "failed" }))).toBe(list);
  });

  it("drops a verification when an edit follows it", () => {
    const verified = reduceTasks(list, event("a", 2, { type: "verification", passed: true }));
    expect(verified[1]).toMatchObject({ verified: true });
    expect(reduceTasks(verified, event("a", 3, { type: "diff", files: [] }))[1]).toMatchObject({ verified: null });
  });

  it("puts a new task where it belongs by its date, and keeps what is newer than an answer", () => {
    expect(upsert(list, task("ccc")).map(({ id }) => id)).toEqual(["ccc", "bb", "a"]);
    expect(upsert(list, task("bb", { lastSeq: 0, status: "failed" }))).toBe(list);
  });
});

/** Answers each path with its responses in order; the last stream stays open. */
class RoutedSidecar {
  readonly requests: { path: string; headers: Headers }[] = [];
  constructor(private readonly routes: Record<string, Response[]>) {}

  readonly service = new BrainService({
    credentials: fixedToken("secret"),
    fetch: async (input, init) => {
      const { pathname, search } = new URL(String(input), "http://sidecar");
      this.requests.push({ path: pathname + search, headers: new Headers(init?.headers) });
      return this.routes[pathname]?.shift() ?? problem(404, "not_found");
    },
  });

  cursors(): (string | null)[] {
    const opened = this.requests.filter(({ path }) => path.startsWith(EVENTS));
    return opened.map(
      ({ path, headers }) => headers.get("last-event-id") ?? new URLSearchParams(path.split("?")[1]).get("after"),
    );
  }
}
const EVENTS = "/api/brain/events";
const TASKS = "/api/brain/tasks";

describe("the feed of all tasks", () => {
  it("follows the stream from now, loads the list once, and asks only for unknown tasks", async () => {
    const sidecar = new RoutedSidecar({
      [EVENTS]: [
        stream(
          [event("a", 2, { type: "status", status: "waiting" }), event("bb", 1, { type: "status", status: "queued" })],
          { open: true },
        ),
      ],
      [TASKS]: [page([task("a")])],
      [`${TASKS}/a`]: [json(task("a", { status: "waiting", lastSeq: 2 }))],
      [`${TASKS}/bb`]: [json(task("bb", { status: "queued" }))],
    });
    const feed = new TaskFeed(sidecar.service);
    const stop = await until(
      feed,
      () => feed.snapshot().tasks.length === 2 && feed.snapshot().tasks[1]!.status === "waiting",
    );
    expect(feed.snapshot()).toMatchObject({ loaded: true, hasMore: false, connection: { state: "live" } });
    expect(feed.snapshot().tasks.map(({ id, status }) => [id, status])).toEqual([
      ["bb", "queued"],
      ["a", "waiting"],
    ]);
    expect(sidecar.requests.filter(({ path }) => path === `${TASKS}?limit=50`)).toHaveLength(1);
    expect(sidecar.cursors()).toEqual(["now"]);
    expect(sidecar.requests[0]!.headers.get("authorization")).toBe("Bearer secret");
    stop();
  });

  it("resumes after the last cursor when the connection breaks, without loading the list again", async () => {
    const sidecar = new RoutedSidecar({
      [EVENTS]: [
        stream([event("a", 2, { type: "status", status: "waiting" })], { breaks: true }),
        stream([event("a", 3, { type: "status", status: "running" })], { open: true }),
      ],
      [TASKS]: [page([task("a")])],
      [`${TASKS}/a`]: [json(task("a", { status: "waiting", lastSeq: 2 }))],
    });
    const feed = new TaskFeed(sidecar.service);
    const states: TaskList["connection"]["state"][] = [];
    const unsubscribe = feed.subscribe(() => states.push(feed.snapshot().connection.state));
    const stop = await until(feed, () => feed.snapshot().tasks[0]?.lastSeq === 3);
    expect(sidecar.cursors()).toEqual(["now", "c2"]);
    expect(sidecar.requests.filter(({ path }) => path.startsWith(`${TASKS}?`))).toHaveLength(1);
    expect(states).toContain("lost");
    expect(feed.snapshot().connection.state).toBe("live");
    stop();
    unsubscribe();
  });

  it("starts over when the events after its cursor are gone", async () => {
    const sidecar = new RoutedSidecar({
      [EVENTS]: [
        stream([event("a", 2, { type: "status", status: "waiting" })], { breaks: true }),
        problem(410, "cursor_lost"),
        stream([], { open: true }),
      ],
      [TASKS]: [page([task("a")]), page([task("bb")])],
      [`${TASKS}/a`]: [json(task("a"))],
    });
    const feed = new TaskFeed(sidecar.service);
    const stop = await until(
      feed,
      () =>
        feed
          .snapshot()
          .tasks.map(({ id }) => id)
          .join() === "bb",
    );
    expect(sidecar.cursors()).toEqual(["now", "c2", "now"]);
    stop();
  });

  it("asks for a task that has ended, and reports a session that is over", async () => {
    const sidecar = new RoutedSidecar({
      [EVENTS]: [stream([event("a", 2, { type: "status", status: "completed" })], { open: true })],
      [TASKS]: [page([task("a")])],
      [`${TASKS}/a`]: Array.from({ length: 2 }, () =>
        json(task("a", { status: "completed", verified: true, lastSeq: 2 })),
      ),
    });
    const feed = new TaskFeed(sidecar.service);
    (await until(feed, () => feed.snapshot().tasks[0]?.verified === true))();
    const over = new TaskFeed(new RoutedSidecar({ [EVENTS]: [problem(401, "unauthenticated")] }).service);
    (await until(over, () => over.snapshot().failure !== undefined))();
    expect(over.snapshot().failure).toMatchObject({ status: 401 });
  });
});

describe("the watch registry", () => {
  const ended = journal({ type: "status", status: "queued" }, { type: "status", status: "completed" });

  it("opens one stream for all followers of a task, and closes it with the last", async () => {
    const sidecar = new ScriptedSidecar([stream(ended.slice(0, 1), { open: true })]);
    const registry = new WatchRegistry(serviceOf(sidecar));
    const release = ["one", "two"].map((follower) => registry.follow("t", follower));
    expect(registry.followed()).toEqual(new Map([["t", ["one", "two"]]]));
    await until(registry.watch("t"), () => registry.watch("t").snapshot().thread.lastSeq === 1);
    release[0]!();
    expect(registry.watch("t").running).toBe(true);
    release[1]!();
    expect(registry.watch("t").running).toBe(false);
    expect(registry.followed().size).toBe(0);
    expect(sidecar.requests).toHaveLength(1);
  });

  it("opens the stream of an ended task again when the feed shows that it continues", async () => {
    const streams: Record<string, Response[]> = {
      "/api/brain/tasks": [page([task("t", { lastSeq: 2 })])],
      "/api/brain/tasks/t/stream": [
        stream(ended),
        stream(
          [...ended, ...journal({ type: "status", status: "queued" })].slice(2).map((one) => ({ ...one, seq: 3 })),
          {
            open: true,
          },
        ),
      ],
    };
    let resumed: (response: Response) => void = () => {};
    const fetch = async (input: unknown): Promise<Response> => {
      const { pathname } = new URL(String(input), "http://sidecar");
      if (pathname === "/api/brain/events") return new Promise((resolve) => (resumed = resolve));
      return streams[pathname]!.shift()!;
    };
    const registry = new WatchRegistry(
      new BrainService({ credentials: fixedToken("x"), fetch: fetch as typeof globalThis.fetch }),
    );
    const stop = registry.feed.subscribe(() => {});
    registry.follow("t", "pane");
    const watch = registry.watch("t");
    await until(watch, () => watch.snapshot().connection.state === "closed");
    await new Promise((done) => setTimeout(done, 20));
    expect(watch.running).toBe(false);
    resumed(stream([event("t", 3, { type: "status", status: "queued" })], { open: true }));
    await until(watch, () => watch.snapshot().thread.lastSeq === 3);
    expect(watch.snapshot().thread.status).toBe("queued");
    stop();
    registry.pause();
    expect(watch.running).toBe(false);
  });
});
