import type { StepItem, Thread } from "../../../client/index.ts";
import { hasEnded, itemOf } from "../../../client/index.ts";
import { Icon } from "../../shared/icons.tsx";

/** The agents of the pipeline, and which of them is at work. */
export function Pipeline({ thread }: { thread: Thread }) {
  const agents = thread.route?.pipeline ?? [];
  if (agents.length < 2) return null;
  const steps = thread.steps.map((key) => itemOf(thread, key) as StepItem);
  return (
    <ol className="pipeline" aria-label="Pipeline" title={thread.route?.why}>
      {agents.map((agent, place) => {
        // A plan may give an agent several steps, some at the same time.
        const own = steps.filter((one) => one.agent === agent);
        const step = own.find((one) => one.state === "started") ?? own.at(-1);
        const working = step?.state === "started" && !hasEnded(thread.status);
        return (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: an agent may come twice
            key={place}
            className={`stage stage-${step?.state ?? "ahead"}`}
            aria-current={working ? "step" : undefined}
          >
            {step?.state === "completed" && <Icon name="check" />}
            {agent}
          </li>
        );
      })}
    </ol>
  );
}
