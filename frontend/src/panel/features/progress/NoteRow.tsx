import { memo, type ReactNode } from "react";
import type { NoteItem } from "../../../client/index.ts";
import { Icon, type IconName } from "../../shared/icons.tsx";
import { visible } from "../../shared/visible.ts";
import { plural } from "../../shared/words.ts";
import { Checks } from "./Checks.tsx";

/** What a task says about itself, in words. */
export const NoteRow = memo(function NoteRow({ item }: { item: NoteItem }) {
  const { icon, tone, text, more } = wording(item.event);
  return (
    <div className={`note note-${tone}`}>
      <Icon name={icon} />
      <div>
        <p>{withCode(text)}</p>
        {more}
      </div>
    </div>
  );
});

interface Wording {
  readonly icon: IconName;
  readonly tone: "quiet" | "warn" | "bad" | "good";
  readonly text: string;
  readonly more?: ReactNode;
}

function wording(event: NoteItem["event"]): Wording {
  switch (event.type) {
    case "status":
      if (event.rewoundTo !== undefined)
        return {
          icon: "rewind",
          tone: "warn",
          text: "Taken back to an earlier checkpoint; what came after it no longer counts.",
        };
      return event.status === "interrupted"
        ? { icon: "alert", tone: "warn", text: event.reason ?? "The task was interrupted." }
        : { icon: "retry", tone: "quiet", text: sentence(event.reason ?? "queued again") };
    case "model":
      return {
        icon: "retry",
        tone: "warn",
        text: `${event.provider}/${event.model} took over from ${event.fallbackFrom}${event.reason ? `: ${event.reason}` : "."}`,
      };
    case "handoff":
      return { icon: "arrow", tone: "quiet", text: event.reason || `${event.from} hands over to ${event.to}.` };
    case "retry":
      return {
        icon: "retry",
        tone: "warn",
        text: `Trying again (${event.attempt} of ${event.of}): ${visible(event.error)}`,
        more: <Points points={event.hints} title="What it was told:" />,
      };
    case "verification":
      return {
        icon: event.passed ? "check" : "alert",
        tone: event.passed ? "good" : "bad",
        text: `${event.passed ? "Verified" : "Not verified"}: ${event.checks.filter((check) => check.passed).length} of ${plural(event.checks.length, "check")} passed${event.attempt > 1 ? `, attempt ${event.attempt}` : ""}.`,
        more: (
          <>
            <Checks checks={event.checks} />
            <Points points={event.notes ?? []} title="Beside that:" />
          </>
        ),
      };
    case "escalation":
      return {
        icon: "alert",
        tone: "bad",
        text: `A person is needed after ${plural(event.attempts, "attempt")}: ${event.reason}`,
        more: <Points points={event.suggestions} title="What could be done:" />,
      };
    case "error":
      return { icon: "alert", tone: "bad", text: visible(event.message) };
    case "cancelled":
      return {
        icon: "stop",
        tone: "warn",
        text: `Cancelled. ${event.killed.length === 0 ? "Nothing was left running." : `${plural(event.killed.length, "process", "processes")} ended.`}`,
        more: (
          <>
            <Points points={event.killed.map((one) => `ended ${one.command} (process ${one.pid})`)} />
            <Points points={event.effects.map((one) => `already done: ${one.tool} ${one.summary}`)} />
          </>
        ),
      };
  }
}

const Points = ({ points, title }: { points: readonly string[]; title?: string }) =>
  points.length > 0 && (
    <>
      {title && <p className="note-title">{title}</p>}
      <ul>
        {points.map((point) => (
          <li key={point}>{withCode(visible(point))}</li>
        ))}
      </ul>
    </>
  );

/** What stands between backticks is a command or a name. */
const withCode = (text: string): ReactNode[] =>
  text.split(/`([^`]+)`/).map((part, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have no other name than their place
    place % 2 === 0 ? part : <code key={place}>{part}</code>,
  );

const sentence = (text: string): string =>
  `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
