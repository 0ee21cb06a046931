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

type Told = Parameters<typeof journal>[number];

const step = (number: number, state: "started" | "completed"): Told => ({
  type: "step",
  step: number,
  total: 2,
  message: "Do it",
  agent: "coder",
  state,
});

describe("the activity of a task", () => {
  it("does not promise that a resume helps if the request was not understood", () => {
    expect(describeActivity(failed("not_understood"))).toMatch(/^Rephrase it/);
    expect(describeActivity(failed("model_unavailable"))).toBe("Resumes from its last checkpoint.");
  });

  it("names the last step that a rewind left", () => {
    const told = (to: number, ...later: Told[]) =>
      describeActivity(
        journal(
          { type: "status", status: "running" },
          step(1, "started"),
          step(1, "completed"),
          step(2, "started"),
          step(2, "completed"),
          { type: "status", status: "completed" },
          { type: "status", status: "cancelled", rewoundTo: to },
          ...later,
        ).reduce(reduce, emptyThread("t")),
      );
    expect(told(0)).toBe("Resumes from its last checkpoint.");
    expect(told(4)).toBe("Resumes after step 1 of 2 (coder).");
    expect(told(5)).toBe("Resumes after step 2 of 2 (coder).");
    const again = [step(1, "started"), step(1, "completed"), { type: "status", status: "cancelled" }] as const;
    expect(told(0, ...again)).toBe("Resumes after step 1 of 2 (coder).");
  });
});
