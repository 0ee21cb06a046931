import { memo, useState } from "react";
import type { ToolItem } from "../../../client/index.ts";
import { CopyButton } from "../../shared/copy-button.tsx";
import { FoldedDiff } from "../../shared/diff/FoldedDiff.tsx";
import { Elapsed } from "../../shared/Elapsed.tsx";
import { duration } from "../../shared/format.ts";
import { Icon, type IconName, Spinner } from "../../shared/icons.tsx";
import { revealHidden, stripAnsi } from "../../shared/text.ts";
import { editDiff, recordedDiff, recordedOutput } from "../../shared/tool-details.ts";
import ui from "../../shared/ui.module.css";
import { describeOutcome, rest, subject } from "./describe.ts";
import styles from "./ToolCard.module.css";

const ICONS: Record<ToolItem["status"], IconName> = {
  pending: "dot",
  running: "dot",
  success: "check",
  error: "alert",
  cancelled: "stop",
  unknown: "question",
};
/** How many lines of live output a closed card shows. */
const TAIL = 8;
const IN_THE_DIFF = new Set(["oldText", "newText", "edits", "content", "patch"]);

interface Props {
  readonly item: ToolItem;
  readonly live: string | undefined;
  /** The task has ended: a call without a result gets none. */
  readonly over: boolean;
}

/** A tool call on one line, with its details to expand. */
export const ToolCard = memo(function ToolCard({ item: call, live, over }: Props) {
  const [open, setOpen] = useState(false);
  const unfinished = call.status === "running" || call.status === "pending";
  const running = unfinished && !over;
  const item: ToolItem = unfinished && over ? { ...call, status: "unknown" } : call;
  const diff = editDiff(item);
  return (
    <article className={styles.tool} data-status={item.status} aria-label={item.tool}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button at its end is for the keyboard */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above */}
      <div className={styles.line} onClick={() => setOpen(!open)}>
        <span className={styles.mark}>
          {item.status === "running" ? <Spinner /> : <Icon name={ICONS[item.status]} />}
        </span>
        <span className={styles.name}>{item.tool}</span>
        <span className={styles.subject}>{subject(item)}</span>
        <span className={styles.outcome}>{describeOutcome(item)}</span>
        <span className={styles.time}>
          {item.cached && <span className={ui.tag}>cached</span>}
          {running ? <Elapsed since={item.at} /> : item.durationMs > 0 && duration(item.durationMs)}
        </span>
        <button type="button" className={styles.toggle} aria-label="Details" aria-expanded={open}>
          <Icon name="chevron" />
        </button>
      </div>
      {item.status === "error" && item.error && !open && (
        <p className={styles.error}>{revealHidden(firstLine(item.error.message))}</p>
      )}
      {running && live && !open && <pre className={styles.tail}>{lastLines(stripAnsi(live))}</pre>}
      {diff && <FoldedDiff diff={diff} />}
      {open && <Inside item={item} live={live} withDiff={diff !== undefined} />}
    </article>
  );
});

function Inside({ item, live, withDiff }: Pick<Props, "item" | "live"> & { readonly withDiff: boolean }) {
  const output = recordedOutput(item.details) ?? live;
  const diff = withDiff ? undefined : recordedDiff(item.details);
  return (
    <div className={styles.inside}>
      {item.error && (
        <p className={styles.error}>
          {revealHidden(item.error.message)} <code>{item.error.code}</code>
        </p>
      )}
      <Values entries={argumentsOf(item, withDiff)} />
      {diff && <FoldedDiff diff={diff} />}
      {output && (
        <div className={styles.output}>
          <pre tabIndex={0} role="group" aria-label="Output">
            {stripAnsi(output)}
          </pre>
          <CopyButton text={output} label="Copy output" />
        </div>
      )}
      <Values entries={rest(item.details)} />
      <p className={styles.host}>
        {item.executor && `Ran in: ${item.executor}`}
        {item.cached && " · from the cache"}
      </p>
    </div>
  );
}

const Values = ({ entries }: { entries: readonly (readonly [string, string])[] }) =>
  entries.length > 0 && (
    <dl className={ui.values}>
      {entries.map(([key, value]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>{revealHidden(value)}</dd>
        </div>
      ))}
    </dl>
  );

/** Leaves out the arguments that the diff shows. */
const argumentsOf = (item: ToolItem, withDiff: boolean): [string, string][] =>
  Object.entries(item.args)
    .filter(([key]) => !withDiff || !IN_THE_DIFF.has(key))
    .map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]);
const firstLine = (text: string): string => text.split("\n", 1)[0]!;
const lastLines = (text: string): string => text.trimEnd().split("\n").slice(-TAIL).join("\n");
