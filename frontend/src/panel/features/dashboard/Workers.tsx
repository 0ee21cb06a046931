import { useEffect, useState } from "react";
import type { TaskList } from "../../../client/index.ts";
import type { FleetState, WorkerInfo } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { ago, plural } from "../../shared/format.ts";
import { revealHidden } from "../../shared/text.ts";
import styles from "./Dashboard.module.css";

/** Several changes of the tasks within this time ask for the workers once. */
const SETTLE_MS = 500;

/** The workers and their queue; asked for again when a task changes its status, not on a clock. */
export function useFleet({ tasks }: TaskList): FleetState | undefined {
  const service = useBrain();
  const [fleet, setFleet] = useState<FleetState>();
  const statuses = tasks.map(({ id, status }) => `${id} ${status}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed status may mean another worker or queue
  useEffect(() => {
    const stop = new AbortController();
    // An older sidecar has no such route; the dashboard does without.
    const load = () => service.fleet(stop.signal).then(setFleet, () => {});
    const timer = setTimeout(load, fleet === undefined ? 0 : SETTLE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [service, statuses]);
  return fleet;
}

interface Props {
  readonly fleet: FleetState;
  readonly list: TaskList;
  readonly onSelect: (taskId: string) => void;
}

export function Workers({ fleet: { workers, queue, leader }, list, onSelect }: Props) {
  const waits = (id: string) => list.tasks.find((task) => task.id === id)?.status === "waiting";
  const pools = Object.entries(queue.pools).filter(([, depth]) => depth > 0);
  return (
    <section className={styles.workers} aria-label="Workers">
      <h3>Workers</h3>
      <ul>
        {workers.map((worker) => (
          <li key={worker.id}>
            <span className={styles.dot} data-status={worker.status} aria-hidden="true" />
            <div>
              <span>
                {revealHidden(worker.host)} <small>process {worker.pid}</small>
              </span>
              <small>
                {describe(worker, worker.tasks.filter(waits).length, worker.id === leader && workers.length > 1)}
              </small>
              {worker.tasks.map((id) => (
                <button key={id} type="button" className={styles.taskLink} onClick={() => onSelect(id)}>
                  {list.tasks.find((task) => task.id === id)?.title ?? id}
                </button>
              ))}
            </div>
          </li>
        ))}
      </ul>
      {pools.length > 0 && (
        <p className={styles.empty}>
          Queue: {pools.map(([pool, depth]) => `${revealHidden(pool)} ${depth}`).join(", ")}
        </p>
      )}
    </section>
  );
}

/** A task that waits for you takes no slot. */
function describe({ status, slots, tasks, pool, lastSeen }: WorkerInfo, waiting: number, leads: boolean): string {
  const parts = [status === "dead" ? `dead, last seen ${ago(lastSeen)}` : status];
  if (status !== "serving") parts.push(`${tasks.length - waiting} of ${plural(slots, "slot")} in use`);
  if (waiting > 0) parts.push(`${waiting} waiting`);
  if (pool !== "*") parts.push(`pool ${pool}`);
  if (leads) parts.push("leader");
  return revealHidden(parts.join(" · "));
}
