import { describe, expect, it } from "vitest";
import type { Task } from "../../wire/types.ts";
import { newsIn } from "../features/notify/useNotifications.ts";
import { Store } from "../stores/store.ts";
import { showToast, toasts } from "../stores/toasts.ts";

describe("a store", () => {
  it("notifies subscribers only if the state changes", () => {
    const store = new Store<number, number>(1, (state, action) => Math.max(state, action));
    let calls = 0;
    const stop = store.subscribe(() => {
      calls += 1;
    });
    store.dispatch(0);
    store.dispatch(5);
    stop();
    store.dispatch(9);
    expect([store.get(), calls]).toEqual([9, 1]);
  });
});

describe("toasts", () => {
  it("show the last three", () => {
    for (const text of ["a", "b", "c", "d"]) showToast(text);
    expect(toasts.get().map(({ text }) => text)).toEqual(["b", "c", "d"]);
    toasts.dispatch({ dismiss: toasts.get()[0]!.id });
    expect(toasts.get().map(({ text }) => text)).toEqual(["c", "d"]);
  });
});

describe("notifications", () => {
  it("are about tasks that end or wait, and new ones, but not about old tasks that were loaded later", () => {
    const task = (id: string, status: Task["status"], createdAt = "2026-01-01T12:00:00Z") =>
      ({ id, status, createdAt, task: id }) as Task;
    const since = Date.parse("2026-01-01T13:00:00Z");
    const before = new Map([
      ["a", "running"],
      ["b", "waiting"],
      ["c", "queued"],
    ] as const);
    const tasks = [
      task("a", "completed"),
      task("b", "waiting"),
      task("c", "running"),
      task("old", "waiting"),
      task("new", "waiting", "2026-01-01T13:00:01Z"),
    ];
    expect(newsIn(tasks, before, since).map(({ id }) => id)).toEqual(["a", "new"]);
  });
});
