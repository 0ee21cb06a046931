import type { StepItem, Thread } from "../../../client/index.ts";
import { canResume, isActive, itemOf } from "../../../client/index.ts";
import { describeAction } from "../../shared/approval-text.ts";
import { Elapsed } from "../../shared/Elapsed.tsx";
import { cost, count } from "../../shared/format.ts";
import styles from "./Progress.module.css";

/** The model, tokens, cost and time. */
export function Meter({ thread }: { thread: Thread }) {
  const { inputTokens, outputTokens, cachedTokens, costUsd } = thread.usage;
  const tokens = inputTokens + outputTokens;
  const timed = thread.runningSince !== undefined || thread.workedMs >= 1_000;
  return (
    <span className={styles.meter}>
      {thread.model && <span className={styles.model}>{`${thread.model.provider}/${thread.model.model}`}</span>}
      {tokens > 0 && (
        <span title={`${inputTokens} in, ${outputTokens} out, ${cachedTokens} from the provider's cache`}>
          {count(tokens)} tokens
        </span>
      )}
      <ContextMeter thread={thread} />
      {costUsd > 0 && <span>{cost(costUsd)}</span>}
      {timed && <Elapsed since={thread.runningSince} before={thread.workedMs} />}
    </span>
  );
}

/** How full the model's context window is. */
function ContextMeter({ thread }: { thread: Thread }) {
  const { tokens, limit } = thread.context ?? {};
  if (tokens === undefined || limit === undefined) return null;
  const share = Math.min(100, Math.round((100 * tokens) / limit));
  return (
    <meter
      className={styles.context}
      max={100}
      high={80}
      optimum={0}
      value={share}
      title={`${count(tokens)} of ${count(limit)} tokens of context`}
      aria-label={`Context window ${share} % full`}
    />
  );
}

/** What the task is doing, in one sentence. */
export function describeActivity(thread: Thread): string {
  if (thread.status === "queued") return thread.reason ? `Queued: ${thread.reason}` : "Waiting for a free slot…";
  if (thread.status === "waiting") return describeWait(thread);
  if (thread.status === "cancelling") return "Stopping its processes…";
  if (thread.status === "interrupted")
    return thread.reason ?? "Interrupted. You can resume it from its last checkpoint.";
  if (canResume(thread)) return describeResume(thread);
  if (!isActive(thread.status)) return "";
  const step = thread.steps.map((key) => itemOf(thread, key) as StepItem).findLast((one) => one.state === "started");
  const tool = thread.items.findLast((item) => item.kind === "tool");
  if (tool?.kind === "tool" && tool.status === "running")
    return `${step?.agent ?? "The agent"} is running ${tool.tool}…`;
  const drafts = [...thread.drafts.values()];
  if (drafts.length > 0 && drafts.every((draft) => draft.text === ""))
    return `${step?.agent ?? "The agent"} is thinking…`;
  if (drafts.length > 0) return `${step?.agent ?? "The agent"} is writing…`;
  return step ? `${step.agent} is thinking…` : "Choosing agents…";
}

function describeWait(thread: Thread): string {
  const open = thread.openApprovals.map((key) => itemOf(thread, key)).find((item) => item?.kind === "approval");
  if (open?.kind !== "approval") return thread.reason ?? "Waiting for you.";
  return `Needs your approval: ${describeAction(open)}`;
}

/** Where a resume would continue. */
function describeResume(thread: Thread): string {
  // The same request to the same model would only fail again.
  if (thread.error?.code === "not_understood") return "Rephrase it, or add a model and resume.";
  const done = thread.steps.map((key) => itemOf(thread, key) as StepItem).filter((step) => step.state === "completed");
  const last = done.at(-1);
  if (last === undefined) return "Resumes from its last checkpoint.";
  return last.agent === "verify"
    ? "Resumes after its last check."
    : `Resumes after step ${last.step} of ${last.total} (${last.agent}).`;
}

/** A progress bar, if the number of steps is known. */
export function StepBar({ thread }: { thread: Thread }) {
  const steps = thread.steps.map((key) => itemOf(thread, key) as StepItem);
  const total = Math.max(thread.route?.pipeline.length ?? 0, steps.at(-1)?.total ?? 0);
  if (total < 2 || !isActive(thread.status)) return null;
  const done = steps.filter((step) => step.state === "completed").length;
  return <progress className={styles.bar} max={total} value={done} aria-label={`${done} of ${total} steps done`} />;
}
