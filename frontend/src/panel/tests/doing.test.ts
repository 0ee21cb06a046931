import { describe, expect, it } from "vitest";
import { emptyThread, reduce } from "../../client/index.ts";
import { journal } from "../../client/tests/events.ts";
import { doing } from "../features/progress/Meter.tsx";

const failed = (code: string) =>
  journal(
    { type: "status", status: "queued" },
    { type: "error", code, message: "No.", recoverable: true },
    { type: "status", status: "failed" },
  ).reduce(reduce, emptyThread("t"));

describe("what is going on, in one sentence", () => {
  it("does not promise that words which were not understood will be when they are repeated", () => {
    expect(doing(failed("not_understood"))).toMatch(/^Say it differently/);
    expect(doing(failed("model_unavailable"))).toBe("Can go on from its last checkpoint.");
  });
});
