import { memo, useState } from "react";
import type { ToolItem } from "../../../client/index.ts";
import { CopyButton } from "../../shared/copy-button.tsx";
import { HunkLines } from "../../shared/diff/HunkLines.tsx";
import { hunksOf } from "../../shared/diff/parse.ts";
import { Icon, type IconName, Spinner } from "../../shared/icons.tsx";
import { plain, visible } from "../../shared/visible.ts";
import { duration } from "../../shared/words.ts";
import { recordedDiff, recordedOutput, rest, subject } from "./describe.ts";
import { Elapsed } from "./Elapsed.tsx";

const MARKS: Record<ToolItem["status"], IconName> = {
  pending: "dot",
  running: "dot",
  success: "check",
  error: "alert",
  cancelled: "stop",
  unknown: "question",
};
const WORDS: Partial<Record<ToolItem["status"], string>> = {
  pending: "waiting",
  cancelled: "cancelled",
  unknown: "unknown: it may have happened",
};
/** Of a command that still runs, the last lines stay in sight. */
const TAIL = 8;
const IN_THE_DIFF = new Set(["oldText", "newText", "edits", "content", "patch"]);

interface Props {
  readonly item: ToolItem;
  readonly live: string | undefined;
  /** The task has ended: what has no result by now gets none. */
  readonly over: boolean;
}

/** One call on one line; everything else about it is behind the fold. */
export const ToolCard = memo(function ToolCard({ item: told, live, over }: Props) {
  const [open, setOpen] = useState(false);
  const unfinished = told.status === "running" || told.status === "pending";
  const running = unfinished && !over;
  const item: ToolItem = unfinished && over ? { ...told, status: "unknown" } : told;
  return (
    <article className={`tool tool-${item.status}`} aria-label={item.tool}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button at its end is the way for the keyboard */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above */}
      <div className="tool-line" onClick={() => setOpen(!open)}>
        <span className="tool-mark">
          {item.status === "running" ? <Spinner /> : <Icon name={MARKS[item.status]} />}
        </span>
        <span className="tool-name">{item.tool}</span>
        <span className="tool-subject">{subject(item)}</span>
        <span className="tool-outcome">{outcome(item)}</span>
        <span className="tool-time">
          {item.cached && <span className="tag">cached</span>}
          {running ? <Elapsed since={item.at} /> : item.durationMs > 0 && duration(item.durationMs)}
        </span>
        <button type="button" className="tool-more" aria-label="Details" aria-expanded={open}>
          <Icon name="chevron" />
        </button>
      </div>
      {item.status === "error" && item.error && !open && (
        <p className="tool-error">{visible(firstLine(item.error.message))}</p>
      )}
      {running && live && !open && <pre className="tool-tail">{lastLines(plain(live))}</pre>}
      {open && <Inside item={item} live={live} />}
    </article>
  );
});

function Inside({ item, live }: Pick<Props, "item" | "live">) {
  const output = recordedOutput(item.details) ?? live;
  const diff = recordedDiff(item.details);
  return (
    <div className="tool-inside">
      {item.error && (
        <p className="tool-error">
          {visible(item.error.message)} <code>{item.error.code}</code>
        </p>
      )}
      <Values entries={argumentsOf(item, diff !== undefined)} />
      {diff &&
        hunksOf(diff).map((hunk) => <HunkLines key={hunk.id} hunk={hunk} language={String(item.args["path"] ?? "")} />)}
      {output && (
        <div className="tool-output">
          <pre tabIndex={0} role="group" aria-label="Output">
            {plain(output)}
          </pre>
          <CopyButton text={output} label="Copy output" />
        </div>
      )}
      <Values entries={rest(item.details)} />
      <p className="tool-host">
        {item.executor && `ran in: ${item.executor}`}
        {item.cached && " · answered from the cache"}
      </p>
    </div>
  );
}

const Values = ({ entries }: { entries: readonly (readonly [string, string])[] }) =>
  entries.length > 0 && (
    <dl className="values">
      {entries.map(([key, value]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>{visible(value)}</dd>
        </div>
      ))}
    </dl>
  );

const outcome = (item: ToolItem): string => {
  // What went wrong stands below, where there is room for it.
  if (item.status === "running" || (item.status === "error" && item.error)) return "";
  return WORDS[item.status] ?? visible(item.summary);
};
/** What the diff shows better is left out. */
const argumentsOf = (item: ToolItem, withDiff: boolean): [string, string][] =>
  Object.entries(item.args)
    .filter(([key]) => !withDiff || !IN_THE_DIFF.has(key))
    .map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]);
const firstLine = (text: string): string => text.split("\n", 1)[0]!;
const lastLines = (text: string): string => text.trimEnd().split("\n").slice(-TAIL).join("\n");
