import { describe, expect, it } from "vitest";
import { emptyThread, reduce } from "../../client/index.ts";
import { journal } from "../../client/tests/events.ts";
import { describeActivity } from "../features/progress/Meter.tsx";

const failed = (code: string) =>
  journal(
    { type: "status", status: "queued" },
    { type: "error", code, message: "No.", recoverable: true },
    { type: "status", status: "failed" },
  ).reduce(reduce, emptyThread("t"));

describe("the activity of a task", () => {
  it("does not promise that a resume helps if the request was not understood", () => {
    expect(describeActivity(failed("not_understood"))).toMatch(/^Rephrase it/);
    expect(describeActivity(failed("model_unavailable"))).toBe("Resumes from its last checkpoint.");
  });
});
