import { describe, expect, it } from "vitest";
import { reduceAll } from "../reduce.ts";
import { emptyThread } from "../thread.ts";
import { notRewound } from "../timeline.ts";
import { journal } from "./events.ts";

const still = (rewinds: { to: number; at: number }[], last: number) =>
  Array.from({ length: last }, (_, place) => place + 1).filter(notRewound(rewinds));

describe("after a rewind", () => {
  it("events in between no longer count, later ones do", () => {
    expect(still([{ to: 3, at: 7 }], 9)).toEqual([1, 2, 3, 7, 8, 9]);
  });

  it("a second rewind may go further back or undo the first", () => {
    expect(
      still(
        [
          { to: 3, at: 7 },
          { to: 2, at: 9 },
        ],
        10,
      ),
    ).toEqual([1, 2, 9, 10]);
    expect(
      still(
        [
          { to: 3, at: 7 },
          { to: 6, at: 9 },
        ],
        10,
      ),
    ).toEqual([1, 2, 3, 4, 5, 6, 9, 10]);
    expect(
      still(
        [
          { to: 3, at: 7 },
          { to: 8, at: 9 },
        ],
        10,
      ),
    ).toEqual([1, 2, 3, 7, 8, 9, 10]);
  });

  it("the thread records it, and which call made each edit", () => {
    const file = { path: "a.py", change: "modified" as const, added: 1, removed: 0 };
    const call = {
      type: "tool" as const,
      callId: "c",
      tool: "edit_file",
      args: {},
      summary: "",
      durationMs: 1,
      cached: false,
      executor: "local",
    };
    const thread = reduceAll(
      emptyThread("t"),
      journal(
        { type: "status", status: "queued" },
        { ...call, status: "running" },
        { ...call, status: "success" },
        { type: "diff", files: [file] },
        { type: "status", status: "completed" },
        { type: "diff", files: [file] },
        { type: "status", status: "cancelled", reason: "taken back", rewoundTo: 1 },
      ),
    );
    expect(thread.rewinds).toEqual([{ to: 1, at: 7 }]);
    expect(thread.edits.map(({ before }) => before)).toEqual([1, undefined]);
  });
});
