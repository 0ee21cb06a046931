import { memo, type ReactNode } from "react";
import type { NoteItem } from "../../../client/index.ts";
import type { BranchEvent, WorktreeEvent } from "../../../wire/types.ts";
import { plural } from "../../shared/format.ts";
import { Icon, type IconName } from "../../shared/icons.tsx";
import { revealHidden } from "../../shared/text.ts";
import ui from "../../shared/ui.module.css";
import { allCommands } from "../../stores/commands.ts";
import { Checks } from "./Checks.tsx";
import styles from "./NoteRow.module.css";

/** An event as a sentence. */
export const NoteRow = memo(function NoteRow({ item }: { item: NoteItem }) {
  const { icon, tone, text, more } = describe(item.event);
  return (
    <div className={ui.note} data-tone={tone}>
      <Icon name={icon} />
      <div>
        <p>{withCode(text)}</p>
        {more}
        {item.event.type === "error" && <Remedy code={item.event.code} />}
      </div>
    </div>
  );
});

interface Description {
  readonly icon: IconName;
  readonly tone: "quiet" | "warn" | "bad" | "good";
  readonly text: string;
  readonly more?: ReactNode;
}

function worktreeText(event: WorktreeEvent): string {
  if (event.state === "discarded") return "You discarded the worktree and its changes.";
  if (event.state === "created") {
    const without = event.leftOut?.length ? ` It is without your uncommitted ${event.leftOut.join(", ")}.` : "";
    return `Working in a worktree of its own; your files stay as they are until you merge.${without}`;
  }
  const check = event.combined ? " Your workspace had changed meanwhile: run your tests." : "";
  return `Merged ${plural(event.files?.length ?? 0, "file")} into your workspace.${check}`;
}

function branchText(event: BranchEvent): string {
  if (event.state === "pushed") return `The result is the branch ${event.branch} of ${event.remote}.`;
  return event.state === "cloned" ? `Cloned ${event.branch} of ${event.remote}.` : (event.why ?? "Nothing was pushed.");
}

function describe(event: NoteItem["event"]): Description {
  switch (event.type) {
    case "status":
      if (event.rewoundTo !== undefined)
        return {
          icon: "rewind",
          tone: "warn",
          text: "Rewound to an earlier checkpoint; everything after it no longer counts.",
        };
      return event.status === "interrupted"
        ? { icon: "alert", tone: "warn", text: event.reason ?? "The task was interrupted." }
        : { icon: "retry", tone: "quiet", text: sentence(event.reason ?? "queued again") };
    case "model":
      return {
        icon: "retry",
        tone: "warn",
        text: `${event.provider}/${event.model} replaces ${event.fallbackFrom}${event.reason ? `: ${event.reason}` : "."}`,
      };
    case "worktree":
      return { icon: "arrow", tone: "quiet", text: worktreeText(event) };
    case "branch":
      return { icon: "arrow", tone: event.state === "kept" ? "warn" : "quiet", text: branchText(event) };
    case "handoff":
      return { icon: "arrow", tone: "quiet", text: event.reason || `${event.from} hands off to ${event.to}.` };
    case "retry":
      return {
        icon: "retry",
        tone: "warn",
        text: `Trying again (${event.attempt} of ${event.of}): ${revealHidden(event.error)}`,
        more: <Points points={event.hints} title="Hints:" />,
      };
    case "verification":
      return {
        icon: event.passed ? "check" : "alert",
        tone: event.passed ? "good" : "bad",
        text: `${event.passed ? "Verified" : "Not verified"}: ${event.checks.filter((check) => check.passed).length} of ${plural(event.checks.length, "check")} passed${event.attempt > 1 ? `, attempt ${event.attempt}` : ""}.`,
        more: (
          <>
            <Checks checks={event.checks} />
            <Points points={event.notes ?? []} title="Notes:" />
          </>
        ),
      };
    case "escalation":
      return {
        icon: "alert",
        tone: "bad",
        text: `Needs your help after ${plural(event.attempts, "attempt")}: ${event.reason}`,
        more: <Points points={event.suggestions} title="Suggestions:" />,
      };
    case "error":
      return { icon: "alert", tone: "bad", text: revealHidden(event.message) };
    case "cancelled":
      return {
        icon: "stop",
        tone: "warn",
        text: `Cancelled. ${event.killed.length === 0 ? "No process was running." : `Stopped ${plural(event.killed.length, "process", "processes")}.`}`,
        more: (
          <>
            <Points points={event.killed.map((one) => `stopped ${one.command} (process ${one.pid})`)} />
            <Points
              title="What had already taken effect:"
              points={event.effects.map((one) => `${one.tool}: ${one.summary}`)}
            />
          </>
        ),
      };
  }
}

const Points = ({ points, title }: { points: readonly string[]; title?: string }) =>
  points.length > 0 && (
    <>
      {title && <p className={styles.title}>{title}</p>}
      <ul className={styles.points}>
        {points.map((point) => (
          <li key={point}>{withCode(revealHidden(point))}</li>
        ))}
      </ul>
    </>
  );

/** Renders text between backticks as code. */
const withCode = (text: string): ReactNode[] =>
  text.split(/`([^`]+)`/).map((part, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other key than their place
    place % 2 === 0 ? part : <code key={place}>{part}</code>,
  );

const sentence = (text: string): string =>
  `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

/** What fixes an error, by its code: the settings page, or the command that does it. */
const REMEDIES: Record<string, readonly [label: string, command: string]> = {
  bad_key: ["Change key", "settings.models"],
  no_key: ["Add a key", "settings.models"],
  no_credit: ["Choose another model", "settings.models"],
  no_model: ["Add a model", "settings.models"],
  not_understood: ["Add a model", "settings.models"],
  unknown_model: ["Choose another model", "settings.models"],
  model_unreachable: ["Check the models", "settings.models"],
  budget_exceeded: ["Change the limit", "app.settings"],
};

function Remedy({ code }: { code: string }) {
  const remedy = REMEDIES[code];
  if (remedy === undefined) return null;
  const [label, command] = remedy;
  return (
    <button type="button" className={ui.button} onClick={() => allCommands().get(command)?.run("")}>
      {label}
    </button>
  );
}
