import type { Item, ToolItem } from "../../client/index.ts";
import { editDiff } from "../shared/tool-details.ts";

export type Row =
  | { readonly key: string; readonly item: Item }
  /** Calls in a row that need no attention. */
  | { readonly key: string; readonly burst: readonly ToolItem[] };

/** Folds finished calls that follow each other into one row; every other item is a row of its own. */
export function groupRows(items: readonly Item[]): Row[] {
  const rows: Row[] = [];
  let burst: ToolItem[] = [];
  const endBurst = () => {
    if (burst.length === 1) rows.push({ key: burst[0]!.key, item: burst[0]! });
    else if (burst.length > 1) rows.push({ key: `burst-${burst[0]!.key}`, burst });
    burst = [];
  };
  for (let place = 0; place < items.length; place += 1) {
    const item = items[place]!;
    if (isCoveredByNext(item, items, place) || isRepeated(item, items, place)) continue;
    if (item.kind === "tool" && isQuiet(item)) {
      burst.push(item);
      continue;
    }
    endBurst();
    rows.push({ key: item.key, item });
  }
  endBurst();
  return rows;
}

/** A call that succeeded and changed no file: it needs no attention. */
const isQuiet = (item: ToolItem): boolean => item.status === "success" && editDiff(item) === undefined;

/** The first row to render, so that little more than `cards` are rendered. */
export function firstShown(rows: readonly Row[], cards: number): number {
  let place = rows.length;
  for (let left = cards; place > 0 && left > 0; place -= 1) {
    const row = rows[place - 1]!;
    left -= "burst" in row ? 1 + row.burst.length / 4 : 1;
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
  if (item.event.type === "handoff") return next?.kind === "step";
  return item.event.type === "error" && next?.kind === "note" && next.event.type === "escalation";
}

/** True for an error that repeats one of the last messages. */
function isRepeated(item: Item, items: readonly Item[], place: number): boolean {
  if (item.kind !== "note" || item.event.type !== "error") return false;
  const { message } = item.event;
  return items.slice(Math.max(0, place - 4), place).some((one) => one.kind === "message" && one.text === message);
}
