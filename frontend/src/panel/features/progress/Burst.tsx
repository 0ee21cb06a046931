import { memo, useState } from "react";
import type { ToolItem } from "../../../client/index.ts";
import { duration } from "../../shared/format.ts";
import { Icon } from "../../shared/icons.tsx";
import ui from "../../shared/ui.module.css";
import { describeBurst } from "./burst.ts";
import { describeOutcome, subject } from "./describe.ts";
import styles from "./ToolCard.module.css";
import { ToolCard } from "./ToolCard.tsx";

/** Calls that succeeded, on one quiet line; a click shows each. Folded, screen readers hear each call as well. */
export const Burst = memo(
  function Burst({ items }: { items: readonly ToolItem[] }) {
    const [open, setOpen] = useState(false);
    const took = items.reduce((sum, item) => sum + item.durationMs, 0);
    return (
      <div className={styles.burst} role="group" aria-label={`${items.length} calls`} data-open={open || undefined}>
        <button type="button" className={styles.burstLine} aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name="chevron" />
          <span>{describeBurst(items)}</span>
          <span className={styles.time}>{took >= 100 && duration(took)}</span>
        </button>
        {items.map((item) =>
          open ? (
            <ToolCard key={item.key} item={item} live={undefined} over />
          ) : (
            <article key={item.key} className={ui.visuallyHidden} aria-label={item.tool}>
              {subject(item)} {describeOutcome(item)} {item.cached && "cached"}
            </article>
          ),
        )}
      </div>
    );
  },
  (before, after) =>
    before.items.length === after.items.length && after.items.every((item, place) => item === before.items[place]),
);
