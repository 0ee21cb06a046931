import { memo } from "react";
import type { StepItem } from "../../../client/index.ts";
import { Icon } from "../../shared/icons.tsx";
import type { Point } from "../../shared/point.ts";
import { duration } from "../../shared/words.ts";

interface Props {
  readonly item: StepItem;
  readonly onBack: (point: Point) => void;
}

/** Where an agent takes over. */
export const StepRow = memo(function StepRow({ item, onBack }: Props) {
  const took = item.endedAt ? Date.parse(item.endedAt) - Date.parse(item.at) : undefined;
  return (
    <div className={`step step-${item.state}`}>
      {item.state !== "started" && <Icon name={item.state === "completed" ? "check" : "close"} />}
      <span className="step-agent">{item.agent}</span>
      <span className="step-message">{item.reason ?? item.message}</span>
      {item.total > 1 && (
        <span className="step-number">
          {item.step} of {item.total}
        </span>
      )}
      {took !== undefined && <span className="step-time">{duration(took)}</span>}
      <button
        type="button"
        className="icon-button step-back"
        aria-label={`Go back to before the ${item.agent}`}
        title={`Go back to before the ${item.agent}, or fork from there`}
        onClick={() => onBack({ seq: item.seq - 1, label: `before the ${item.agent}` })}
      >
        <Icon name="rewind" />
      </button>
    </div>
  );
});
