import type { StepItem, Thread } from "../../../client/index.ts";
import { canResume, isActive, itemOf } from "../../../client/index.ts";
import { commandLine, visible } from "../../shared/visible.ts";
import { cost, count } from "../../shared/words.ts";
import { Elapsed } from "./Elapsed.tsx";

/** How far, how long, how much. */
export function Meter({ thread }: { thread: Thread }) {
  const { inputTokens, outputTokens, cachedTokens, costUsd } = thread.usage;
  const tokens = inputTokens + outputTokens;
  return (
    <span className="meter">
      {thread.model && <span className="meter-model">{`${thread.model.provider}/${thread.model.model}`}</span>}
      {tokens > 0 && (
        <span title={`${inputTokens} in, ${outputTokens} out, ${cachedTokens} from the provider's cache`}>
          {count(tokens)} tokens
        </span>
      )}
      {costUsd > 0 && <span>{cost(costUsd)}</span>}
      <Elapsed since={thread.runningSince} before={thread.workedMs} />
    </span>
  );
}

/** What is going on, in one sentence. Waits are said as waits. */
export function doing(thread: Thread): string {
  if (thread.status === "queued") return thread.reason ? `Queued: ${thread.reason}` : "Waiting for a free place…";
  if (thread.status === "waiting") return waitingFor(thread);
  if (thread.status === "cancelling") return "Stopping everything it started…";
  if (thread.status === "interrupted") return thread.reason ?? "Interrupted; it can go on from its last checkpoint.";
  if (canResume(thread)) return goesOnFrom(thread);
  if (!isActive(thread.status)) return "";
  const step = thread.steps.map((key) => itemOf(thread, key) as StepItem).findLast((one) => one.state === "started");
  const tool = thread.items.findLast((item) => item.kind === "tool");
  if (tool?.kind === "tool" && tool.status === "running") return `${step?.agent ?? "It"} is running ${tool.tool}…`;
  if (thread.drafts.size > 0) return `${step?.agent ?? "It"} is writing…`;
  return step ? `${step.agent} is thinking…` : "Deciding who does it…";
}

function waitingFor(thread: Thread): string {
  const asked = thread.asking.map((key) => itemOf(thread, key)).find((item) => item?.kind === "approval");
  if (asked?.kind !== "approval") return thread.reason ?? "Waiting for you.";
  return `Waiting for your answer: ${asked.argv ? commandLine(asked.argv) : visible(asked.action)}`;
}

/** Where it would be taken up again. */
function goesOnFrom(thread: Thread): string {
  // The same words to the same model would only be declined again.
  if (thread.error?.code === "not_understood") return "Say it differently, or add a model and resume it.";
  const done = thread.steps.map((key) => itemOf(thread, key) as StepItem).filter((step) => step.state === "completed");
  const last = done.at(-1);
  if (last === undefined) return "Can go on from its last checkpoint.";
  return last.agent === "verify"
    ? "Can go on after its last check."
    : `Can go on after step ${last.step} of ${last.total}, the ${last.agent}'s.`;
}

/** A bar only where there is a real total. */
export function StepBar({ thread }: { thread: Thread }) {
  const steps = thread.steps.map((key) => itemOf(thread, key) as StepItem);
  const total = Math.max(thread.route?.pipeline.length ?? 0, steps.at(-1)?.total ?? 0);
  if (total < 2 || !isActive(thread.status)) return null;
  const done = steps.filter((step) => step.state === "completed").length;
  return <progress className="step-bar" max={total} value={done} aria-label={`${done} of ${total} steps done`} />;
}
