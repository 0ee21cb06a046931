import { memo } from "react";
import type { StepItem } from "../../../client/index.ts";
import { duration } from "../../shared/format.ts";
import { Icon } from "../../shared/icons.tsx";
import type { RewindPoint } from "../../shared/rewind-point.ts";
import ui from "../../shared/ui.module.css";
import styles from "./StepRow.module.css";

interface Props {
  readonly item: StepItem;
  readonly onRewind: (point: RewindPoint) => void;
}

/** Marks where an agent's step begins. */
export const StepRow = memo(function StepRow({ item, onRewind }: Props) {
  const took = item.endedAt ? Date.parse(item.endedAt) - Date.parse(item.at) : undefined;
  return (
    <div className={styles.step} data-state={item.state}>
      {item.state !== "started" && <Icon name={item.state === "completed" ? "check" : "close"} />}
      <span className={styles.agent}>{item.agent}</span>
      <span className={styles.message}>{item.reason ?? item.message}</span>
      {item.total > 1 && (
        <span className={styles.number}>
          {item.step} of {item.total}
        </span>
      )}
      {took !== undefined && <span className={styles.time}>{duration(took)}</span>}
      <button
        type="button"
        className={`${ui.iconButton} ${styles.rewind}`}
        aria-label={`Rewind to before the ${item.agent}`}
        title={`Rewind to before the ${item.agent}, or fork from there`}
        onClick={() => onRewind({ seq: item.seq - 1, label: `before the ${item.agent}` })}
      >
        <Icon name="rewind" />
      </button>
    </div>
  );
});
