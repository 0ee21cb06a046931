import { memo } from "react";
import type { StepItem } from "../../../client/index.ts";
import { duration } from "../../shared/words.ts";

/** Where an agent takes over. */
export const StepRow = memo(function StepRow({ item }: { item: StepItem }) {
  const took = item.endedAt ? Date.parse(item.endedAt) - Date.parse(item.at) : undefined;
  return (
    <div className={`step step-${item.state}`}>
      <span className="step-agent">{item.agent}</span>
      <span className="step-message">{item.message}</span>
      {item.total > 1 && (
        <span className="step-number">
          {item.step} of {item.total}
        </span>
      )}
      {took !== undefined && <span className="step-time">{duration(took)}</span>}
    </div>
  );
});
