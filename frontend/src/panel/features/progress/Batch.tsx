import { memo } from "react";
import type { ToolItem } from "../../../client/index.ts";
import { ToolCard } from "./ToolCard.tsx";

interface Props {
  readonly items: readonly ToolItem[];
  readonly outputs: ReadonlyMap<string, string>;
  readonly over: boolean;
}

/** Calls that were made together stand together. */
export const Batch = memo(
  function Batch({ items, outputs, over }: Props) {
    return (
      <div className="batch" role="group" aria-label={`${items.length} calls together`}>
        <span className="batch-label">{items.length} together</span>
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
