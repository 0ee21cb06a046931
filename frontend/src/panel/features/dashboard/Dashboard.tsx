import type { ReactNode } from "react";
import { isActive, type TaskList } from "../../../client/index.ts";
import type { StatusAnswer, Task } from "../../../wire/types.ts";
import { Dialog } from "../../shared/dialog.tsx";
import { ago, cost, count, leaf } from "../../shared/format.ts";
import styles from "./Dashboard.module.css";
import { useSpending } from "./useSpending.ts";
import { useFleet, Workers } from "./Workers.tsx";

const DAYS = 14;

interface Props {
  readonly list: TaskList;
  readonly status: StatusAnswer | undefined;
  readonly onSelect: (taskId: string) => void;
  readonly onClose: () => void;
}

/** All tasks at a glance: running, queued, those that need you, and what they cost. */
export default function Dashboard({ list, status, onSelect, onClose }: Props) {
  const spending = useSpending();
  const fleet = useFleet(list);
  const by = (wanted: (task: Task) => boolean) => list.tasks.filter(wanted);
  const working = by(({ status: at }) => at === "running" || at === "cancelling");
  const queued = by(({ status: at }) => at === "queued");
  const alerts = by(
    ({ status: at }) => at === "waiting" || at === "escalated" || at === "interrupted" || at === "failed",
  );
  const days = lastDays(spending.days);
  const models = [...spending.models]
    .filter(([, usd]) => usd > 0)
    .sort((one, other) => other[1] - one[1])
    .map(([name, usd]) => ({ name, usd }));
  return (
    <Dialog label="Dashboard" className={styles.dashboard} onClose={onClose} titled>
      <dl className={styles.numbers}>
        <Figure name="running" value={String(working.length)} />
        <Figure name="queued" value={String(fleet?.queue.depth ?? queued.length)} />
        <Figure name="need attention" value={String(alerts.length)} warn={alerts.length > 0} />
        <Figure name="tokens" value={count(spending.tokens)} />
        <Figure name="cost" value={cost(spending.costUsd)} />
      </dl>
      <div className={styles.columns}>
        <Section title="Alerts" empty="Nothing needs you.">
          {alerts.slice(0, 20).map((task) => (
            <Row key={task.id} task={task} onSelect={onSelect} />
          ))}
        </Section>
        <Section title="Running and queued" empty="No task is running.">
          {[...working, ...queued].map((task) => (
            <Row key={task.id} task={task} onSelect={onSelect} />
          ))}
        </Section>
        <Section title={`Cost by day, last ${DAYS} days`} empty="No costs yet.">
          {spending.costUsd > 0 && days.map(({ name, usd }) => <Bar key={name} name={name} usd={usd} of={days} />)}
        </Section>
        <Section title="Cost by model" empty="No costs yet.">
          {models.map(({ name, usd }) => (
            <Bar key={name} name={name} usd={usd} of={models} />
          ))}
        </Section>
      </div>
      {fleet && <Workers fleet={fleet} list={list} onSelect={onSelect} />}
      {status && fleet === undefined && (
        <p className={styles.worker}>
          Worker: process {status.pid} in {leaf(status.workspace)}
          {status.shells.length > 0 && `, ${status.shells.length} connected shells`}, journal {status.journal.state}.
        </p>
      )}
    </Dialog>
  );
}

const Figure = ({ name, value, warn = false }: { name: string; value: string; warn?: boolean }) => (
  <div data-warn={warn || undefined}>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

function Section({ title, empty, children }: { title: string; empty: string; children: ReactNode }) {
  const some = Array.isArray(children) ? children.length > 0 : Boolean(children);
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {some ? <ul>{children}</ul> : <p className={styles.empty}>{empty}</p>}
    </section>
  );
}

const Row = ({ task, onSelect }: { task: Task; onSelect: (taskId: string) => void }) => (
  <li>
    <button type="button" className={styles.row} onClick={() => onSelect(task.id)}>
      <span dir="auto">{task.title}</span>
      <small data-status={task.status}>
        {isActive(task.status) && task.progress.total > 1
          ? `${task.status}, step ${task.progress.step} of ${task.progress.total}`
          : task.status}{" "}
        · {ago(task.createdAt)}
      </small>
    </button>
  </li>
);

interface Cost {
  readonly name: string;
  readonly usd: number;
}

function Bar({ name, usd, of }: Cost & { readonly of: readonly Cost[] }) {
  const most = Math.max(...of.map((one) => one.usd), 1e-9);
  return (
    <li className={styles.bar}>
      <span>{name}</span>
      <meter min={0} max={most} value={usd} aria-label={`${name}: ${cost(usd)}`} />
      <span>{cost(usd)}</span>
    </li>
  );
}

function lastDays(days: ReadonlyMap<string, number>): Cost[] {
  const today = Date.now();
  return Array.from({ length: DAYS }, (_, back) => {
    const name = new Date(today - back * 86_400_000).toISOString().slice(0, 10);
    return { name, usd: days.get(name) ?? 0 };
  }).filter(({ usd }, back) => usd > 0 || back === 0);
}
