import { memo } from "react";
import type { ToolItem } from "../../../client/index.ts";
import styles from "./ToolCard.module.css";
import { ToolCard } from "./ToolCard.tsx";

interface Props {
  readonly items: readonly ToolItem[];
  readonly outputs: ReadonlyMap<string, string>;
  readonly over: boolean;
}

/** Calls that ran in parallel. */
export const Batch = memo(
  function Batch({ items, outputs, over }: Props) {
    return (
      <div className={styles.batch} role="group" aria-label={`${items.length} calls in parallel`}>
        <span className={styles.batchLabel}>{items.length} in parallel</span>
        {items.map((item) => (
          <ToolCard key={item.key} item={item} live={outputs.get(item.key)} over={over} />
        ))}
      </div>
    );
  },
  (before, after) =>
    before.over === after.over &&
    before.items.length === after.items.length &&
    after.items.every((item, place) => {
      const same = before.items[place];
      return same === item && before.outputs.get(item.key) === after.outputs.get(item.key);
    }),
);
