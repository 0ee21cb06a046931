import { memo } from "react";
import type { PlanThreadItem, VerdictThreadItem } from "../../../client/index.ts";
import type { VerdictIssue } from "../../../wire/types.ts";
import { plural } from "../../shared/format.ts";
import { Icon, type IconName, Spinner } from "../../shared/icons.tsx";
import { revealHidden } from "../../shared/text.ts";
import ui from "../../shared/ui.module.css";
import styles from "./PlanAndVerdict.module.css";

const ICONS: Record<PlanThreadItem["steps"][number]["state"], IconName> = {
  pending: "dot",
  running: "dot",
  done: "check",
  failed: "close",
};

/** The state of one step of a plan. */
export function PlanMark({ state, over }: { state: PlanThreadItem["steps"][number]["state"]; over: boolean }) {
  return (
    <span className={styles.mark} data-state={state}>
      {state === "running" && !over ? <Spinner /> : <Icon name={ICONS[state]} />}
    </span>
  );
}

/** The plan, with the state of each step. `over`: the task has ended, so no step is running. */
export const Plan = memo(function Plan({ item, over }: { item: PlanThreadItem; over: boolean }) {
  return (
    <ol className={styles.plan} aria-label="Plan">
      {item.steps.map(({ id, title, state }) => (
        <li key={id} data-state={state}>
          <PlanMark state={state} over={over} />
          <span>{revealHidden(title)}</span>
        </li>
      ))}
    </ol>
  );
});

/** The reviewer's verdict, with its issues. */
export const Verdict = memo(function Verdict({ item: { approved, issues } }: { item: VerdictThreadItem }) {
  return (
    <div className={styles.verdict}>
      <p>
        <span className={ui.badge} data-tone={approved ? "good" : "bad"}>
          <Icon name={approved ? "check" : "close"} />
          {approved ? "Approved" : "Changes requested"}
        </span>{" "}
        {issues.length > 0 && plural(issues.length, "issue")}
      </p>
      {issues.length > 0 && (
        <ul aria-label="Issues">
          {issues.map((issue) => (
            <li key={`${placeOf(issue)} ${issue.text}`}>
              <strong>{issue.severity}</strong> {issue.path && <code>{revealHidden(placeOf(issue))}</code>}{" "}
              {revealHidden(issue.text)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
});

const placeOf = ({ path = "", line }: VerdictIssue): string => (line === undefined ? path : `${path}:${line}`);
