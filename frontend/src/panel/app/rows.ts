import type { Item, ToolItem } from "../../client/index.ts";

export type Row =
  | { readonly key: string; readonly item: Item }
  | { readonly key: string; readonly batch: readonly ToolItem[] };

/** Groups the calls of one turn, or that ran in parallel, into one row; every other item is a row of its own. */
export function groupRows(items: readonly Item[]): Row[] {
  const rows: Row[] = [];
  for (let place = 0; place < items.length; place += 1) {
    const item = items[place]!;
    if (isCoveredByNext(item, items, place) || isRepeated(item, items, place)) continue;
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

/** The first row to render, so that little more than `cards` are rendered. */
export function firstShown(rows: readonly Row[], cards: number): number {
  let place = rows.length;
  for (let left = cards; place > 0 && left > 0; place -= 1) {
    const row = rows[place - 1]!;
    left -= "batch" in row ? row.batch.length : 1;
  }
  return place;
}

/** A planner or reviewer replies to the other agents in JSON; the plan or verdict event shows it to people. */
export const isForAgents = ({ agent, text }: { readonly agent: string; readonly text: string }): boolean =>
  (agent === "planner" || agent === "reviewer") && /^\s*(\{|```)/.test(text);

/** True if a later item says the same, better: a plan for its JSON, a step for its handoff, an escalation for its error. */
function isCoveredByNext(item: Item, items: readonly Item[], place: number): boolean {
  const next = items[place + 1];
  if (item.kind === "message" && isForAgents(item))
    return items.slice(place + 1, place + 4).some(({ kind }) => kind === "plan" || kind === "verdict");
  if (item.kind !== "note") return false;
  if (item.event.type === "handoff") return next?.kind === "step" && next.agent === item.event.to;
  return item.event.type === "error" && next?.kind === "note" && next.event.type === "escalation";
}

/** True for an error that repeats one of the last messages. */
function isRepeated(item: Item, items: readonly Item[], place: number): boolean {
  if (item.kind !== "note" || item.event.type !== "error") return false;
  const { message } = item.event;
  return items.slice(Math.max(0, place - 4), place).some((one) => one.kind === "message" && one.text === message);
}

/** The ids of one turn's calls differ in their last number only. */
const turnOf = (item: ToolItem): string => item.key.replace(/[.-]\d+$/, "");

function endOf(item: ToolItem): number {
  if (item.status === "running" || item.status === "pending") return Number.POSITIVE_INFINITY;
  return Date.parse(item.at) + item.durationMs;
}
