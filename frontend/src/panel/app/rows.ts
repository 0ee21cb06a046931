import type { Item, ToolItem } from "../../client/index.ts";

export type Row = { readonly key: string; readonly item: Item } | { readonly key: string; readonly batch: readonly ToolItem[] };

/** Calls that ran at the same time become one row; everything else is a row of its own. */
export function rowsOf(items: readonly Item[]): Row[] {
  const rows: Row[] = [];
  for (let place = 0; place < items.length; place += 1) {
    const item = items[place]!;
    if (item.kind !== "tool") {
      rows.push({ key: item.key, item });
      continue;
    }
    const batch = [item];
    let end = endOf(item);
    for (;;) {
      const next = items[place + 1];
      if (next?.kind !== "tool" || Date.parse(next.at) >= end) break;
      batch.push(next);
      end = Math.max(end, endOf(next));
      place += 1;
    }
    rows.push(batch.length === 1 ? { key: item.key, item } : { key: item.key, batch });
  }
  return rows;
}

function endOf(item: ToolItem): number {
  if (item.status === "running" || item.status === "pending") return Number.POSITIVE_INFINITY;
  return Date.parse(item.at) + item.durationMs;
}
