import { memo } from "react";
import type { StepItem } from "../../../client/index.ts";
import { Icon, Spinner } from "../../shared/icons.tsx";
import { Markdown } from "../../shared/markdown/Markdown.tsx";
import { visible } from "../../shared/visible.ts";
import type { Structured } from "./structured.ts";

interface Props {
  readonly said: Structured;
  /** How far the steps are that have a plan's titles as their words. */
  readonly states: ReadonlyMap<string, StepItem["state"]>;
  /** The task has ended: nobody is at work on a step any more. */
  readonly over: boolean;
}

/** A plan whose items tick off, or a verdict with what was found: in words, not in the JSON that the agents exchange. */
export const PlanOrVerdict = memo(function PlanOrVerdict({ said, states, over }: Props) {
  return (
    <div className="message">
      {said.words && <Markdown text={said.words} />}
      {said.kind === "plan" ? <Plan said={said} states={states} over={over} /> : <Verdict said={said} />}
    </div>
  );
});

interface PlanProps extends Omit<Props, "said"> {
  readonly said: Extract<Structured, { kind: "plan" }>;
}

function Plan({ said, states, over }: PlanProps) {
  return (
    <ol className="plan" aria-label="Plan">
      {said.steps.map(({ title, files }) => {
        const state = states.get(title);
        return (
          <li key={title} className={`plan-${state ?? "ahead"}`}>
            <span className="plan-mark">
              {state === "started" && !over ? <Spinner /> : <Icon name={MARKS[state ?? "started"]} />}
            </span>
            <span>
              {visible(title)} {files.length > 0 && <code>{visible(files.join(", "))}</code>}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

const MARKS = { started: "dot", completed: "check", failed: "close" } as const;

function Verdict({ said }: { said: Extract<Structured, { kind: "verdict" }> }) {
  const { passed, summary, findings } = said;
  return (
    <div className="verdict">
      <p>
        <span className={`badge badge-${passed ? "good" : "bad"}`}>
          <Icon name={passed ? "check" : "close"} />
          {passed ? "passes" : "does not pass"}
        </span>{" "}
        {visible(summary)}
      </p>
      {findings.length > 0 && (
        <ul aria-label="What was found">
          {findings.map(({ severity, where, message, fix }) => (
            <li key={where + message}>
              <strong>{severity}</strong> {where && <code>{visible(where)}</code>} {visible(message)}
              {fix && <small> {visible(fix)}</small>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
