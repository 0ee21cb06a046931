import type { WireEvent } from "../../../wire/types.ts";

/** What tasks cost, by day and by model; a pure function of the events of all tasks. */
export interface Spending {
  readonly days: ReadonlyMap<string, number>;
  readonly models: ReadonlyMap<string, number>;
  readonly tokens: number;
  readonly costUsd: number;
  /** By task: its model now, and what its last `usage` said. */
  readonly tasks: ReadonlyMap<string, { readonly model: string; readonly costUsd: number; readonly tokens: number }>;
}

export const NO_SPENDING: Spending = { days: new Map(), models: new Map(), tokens: 0, costUsd: 0, tasks: new Map() };

const plus = (map: ReadonlyMap<string, number>, key: string, value: number): ReadonlyMap<string, number> =>
  new Map(map).set(key, (map.get(key) ?? 0) + value);

/** A `usage` event has the sum of a task so far: what it adds belongs to the model at work and to its day. */
export function reduceSpending(spending: Spending, event: WireEvent): Spending {
  if (event.type !== "model" && event.type !== "usage") return spending;
  const task = spending.tasks.get(event.taskId) ?? { model: "unknown", costUsd: 0, tokens: 0 };
  if (event.type === "model") {
    const model = `${event.provider}/${event.model}`;
    return { ...spending, tasks: new Map(spending.tasks).set(event.taskId, { ...task, model }) };
  }
  const tokens = event.inputTokens + event.outputTokens;
  // A round may count from zero again.
  const cost = event.costUsd >= task.costUsd ? event.costUsd - task.costUsd : event.costUsd;
  const moreTokens = tokens >= task.tokens ? tokens - task.tokens : tokens;
  return {
    days: plus(spending.days, event.at.slice(0, 10), cost),
    models: plus(spending.models, task.model, cost),
    tokens: spending.tokens + moreTokens,
    costUsd: spending.costUsd + cost,
    tasks: new Map(spending.tasks).set(event.taskId, { ...task, costUsd: event.costUsd, tokens }),
  };
}
