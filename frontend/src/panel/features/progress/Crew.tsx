import { memo } from "react";
import type { PlanThreadItem } from "../../../client/index.ts";
import { revealHidden } from "../../shared/text.ts";
import ui from "../../shared/ui.module.css";
import { selectTask } from "../../stores/location.ts";
import styles from "./Crew.module.css";
import { PlanMark } from "./PlanAndVerdict.tsx";

type Part = PlanThreadItem["steps"][number];

/** Whether the plan's steps are tasks of their own. */
export const isCrew = (item: PlanThreadItem): boolean => item.steps.some(({ agent }) => agent !== undefined);

/** The parts of a crew's plan: who works on each, and how far its task is. A part opens its task. */
export const Crew = memo(function Crew({ item, over }: { item: PlanThreadItem; over: boolean }) {
  return (
    <ul className={styles.crew} aria-label="Crew">
      {item.steps.map((part) => (
        <li key={part.id} data-state={part.state}>
          <PlanMark state={part.state} over={over} />
          <span className={styles.title}>{revealHidden(part.title)}</span>
          <span className={ui.badge}>{part.agent}</span>
          {part.status === "waiting" && (
            <span className={ui.badge} data-tone="bad">
              needs you
            </span>
          )}
          <OpenPart part={part} />
        </li>
      ))}
    </ul>
  );
});

function OpenPart({ part: { taskId, title, status } }: { part: Part }) {
  if (taskId === undefined) return null;
  return (
    <button
      type="button"
      className={ui.link}
      onClick={() => selectTask(taskId)}
      aria-label={`Open ${revealHidden(title)}`}
    >
      {status ?? "open"}
    </button>
  );
}
