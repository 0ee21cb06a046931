import type { StepItem, Thread } from "../../../client/index.ts";
import { hasEnded, itemOf } from "../../../client/index.ts";
import { Icon } from "../../shared/icons.tsx";
import styles from "./Progress.module.css";

/** The agents of the pipeline; the active one is marked. */
export function Pipeline({ thread }: { thread: Thread }) {
  const agents = thread.route?.pipeline ?? [];
  if (agents.length < 2) return null;
  const steps = thread.steps.map((key) => itemOf(thread, key) as StepItem);
  return (
    <ol className={styles.pipeline} aria-label="Pipeline" title={thread.route?.why}>
      {agents.map((agent, place) => {
        // A plan may give an agent several steps, some in parallel.
        const own = steps.filter((one) => one.agent === agent);
        const step = own.find((one) => one.state === "started") ?? own.at(-1);
        const working = step?.state === "started" && !hasEnded(thread.status);
        return (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: an agent may come twice
            key={place}
            className={styles.stage}
            data-state={step?.state ?? "pending"}
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
