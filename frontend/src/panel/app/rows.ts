import type { Item, ToolItem } from "../../client/index.ts";

export type Row =
  | { readonly key: string; readonly item: Item }
  | { readonly key: string; readonly batch: readonly ToolItem[] };

/** Calls of one turn, or that ran at the same time, become one row; everything else is a row of its own. */
export function rowsOf(items: readonly Item[]): Row[] {
  const rows: Row[] = [];
  for (let place = 0; place < items.length; place += 1) {
    const item = items[place]!;
    if (isSaidByTheNext(item, items[place + 1]) || isSaidBefore(item, items, place)) continue;
    if (item.kind !== "tool") {
      rows.push({ key: item.key, item });
      continue;
    }
    const batch = [item];
    let end = endOf(item);
    for (;;) {
      const next = items[place + 1];
      if (next?.kind !== "tool" || (Date.parse(next.at) >= end && turnOf(next) !== turnOf(item))) break;
      batch.push(next);
      end = Math.max(end, endOf(next));
      place += 1;
    }
    rows.push(batch.length === 1 ? { key: item.key, item } : { key: item.key, batch });
  }
  return rows;
}

/** From which row on to draw, so that not much more than `cards` are drawn. */
export function firstShown(rows: readonly Row[], cards: number): number {
  let place = rows.length;
  for (let left = cards; place > 0 && left > 0; place -= 1) {
    const row = rows[place - 1]!;
    left -= "batch" in row ? row.batch.length : 1;
  }
  return place;
}

/** A handover is told again, better, by the step that follows it; a giving up, by the call for a person. */
function isSaidByTheNext(item: Item, next: Item | undefined): boolean {
  if (item.kind !== "note") return false;
  if (item.event.type === "handoff") return next?.kind === "step" && next.agent === item.event.to;
  return item.event.type === "error" && next?.kind === "note" && next.event.type === "escalation";
}

/** An agent that cannot do it says so, and the task ends with the same words. */
function isSaidBefore(item: Item, items: readonly Item[], place: number): boolean {
  if (item.kind !== "note" || item.event.type !== "error") return false;
  const { message } = item.event;
  return items.slice(Math.max(0, place - 4), place).some((one) => one.kind === "message" && one.text === message);
}

/** The ids of the calls of one turn differ in their last number only. */
const turnOf = (item: ToolItem): string => item.key.replace(/[.-]\d+$/, "");

function endOf(item: ToolItem): number {
  if (item.status === "running" || item.status === "pending") return Number.POSITIVE_INFINITY;
  return Date.parse(item.at) + item.durationMs;
}
