import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { hasEnded, type Item, notRewound, type Thread } from "../../client/index.ts";
import type { ForkedFrom } from "../../wire/types.ts";
import { AllApprovals } from "../features/approvals/AllApprovals.tsx";
import { ApprovalCard } from "../features/approvals/ApprovalCard.tsx";
import { QuestionCard } from "../features/approvals/QuestionCard.tsx";
import { DraftMessage, Message } from "../features/chat/Message.tsx";
import { Request } from "../features/chat/Request.tsx";
import { NextStep } from "../features/control/NextStep.tsx";
import { Burst } from "../features/progress/Burst.tsx";
import { Crew, isCrew } from "../features/progress/Crew.tsx";
import { NoteRow } from "../features/progress/NoteRow.tsx";
import { Plan, Verdict } from "../features/progress/PlanAndVerdict.tsx";
import { StepRow } from "../features/progress/StepRow.tsx";
import { ToolCard } from "../features/progress/ToolCard.tsx";
import { Icon } from "../shared/icons.tsx";
import type { RewindPoint } from "../shared/rewind-point.ts";
import ui from "../shared/ui.module.css";
import styles from "./Conversation.module.css";
import { Ending } from "./Ending.tsx";
import { firstShown, groupRows, isForAgents, type Row } from "./rows.ts";
import { useFollowEnd } from "./useFollowEnd.ts";

/** How many cards are rendered, from the end; a button shows earlier ones. */
const WINDOW = 80;

interface Props {
  readonly thread: Thread;
  readonly forkedFrom?: ForkedFrom | undefined;
  readonly onRewind: (point: RewindPoint) => void;
  readonly onResend: (seq: number, text: string) => void;
  readonly children?: ReactNode;
}

export function Conversation({ thread, forkedFrom, onRewind, onResend, children }: Props) {
  const { box, inner, away, toEnd } = useFollowEnd();
  const [shown, setShown] = useState(WINDOW);
  const rows = useMemo(() => groupRows(thread.items), [thread.items]);
  const counts = useMemo(() => notRewound(thread.rewinds), [thread.rewinds]);
  const earlier = firstShown(rows, shown);
  const visibleRows = earlier > 0 ? rows.slice(earlier) : rows;
  const height = useRef(0);
  const showMore = () => {
    height.current = box.current?.scrollHeight ?? 0;
    setShown(shown + WINDOW);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: keeps the scroll position when rows are added above
  useLayoutEffect(() => {
    if (height.current > 0 && box.current) box.current.scrollTop += box.current.scrollHeight - height.current;
    height.current = 0;
  }, [shown]);
  return (
    <div className={styles.frame}>
      <div
        className={styles.conversation}
        role="log"
        aria-label="Conversation"
        aria-live="polite"
        ref={box}
        tabIndex={0}
      >
        <div className={ui.column} ref={inner}>
          {earlier > 0 && (
            <button type="button" className={`${ui.plain} ${styles.earlier}`} onClick={showMore}>
              Show earlier events
            </button>
          )}
          {forkedFrom && earlier === 0 && (
            <p className={styles.forked}>
              <Icon name="rewind" /> Forked from{" "}
              <a href={`#task=${forkedFrom.taskId}`} title={`Event ${forkedFrom.seq} of ${forkedFrom.taskId}`}>
                another task
              </a>
            </p>
          )}
          {visibleRows.map((row) => (
            <RowView
              key={row.key}
              row={row}
              thread={thread}
              onRewind={onRewind}
              onResend={onResend}
              undone={!counts(seqOf(row))}
            />
          ))}
          {[...thread.drafts.values()].map((draft) =>
            isForAgents(draft) ? (
              <p key={draft.messageId} className={styles.writing} aria-live="off">
                {draft.agent === "planner" ? "Writing the plan…" : "Writing the verdict…"}
              </p>
            ) : (
              <DraftMessage key={draft.messageId} draft={draft} />
            ),
          )}
          <AllApprovals thread={thread} />
          <NextStep thread={thread} />
          <Ending thread={thread} />
          {children}
        </div>
      </div>
      {away && (
        <button type="button" className={`${ui.button} ${styles.toEnd}`} onClick={toEnd}>
          <Icon name="down" /> Latest
        </button>
      )}
    </div>
  );
}

const seqOf = (row: Row): number => ("burst" in row ? row.burst[0]!.seq : row.item.seq);

interface RowProps {
  readonly row: Row;
  readonly thread: Thread;
  readonly onRewind: (point: RewindPoint) => void;
  readonly onResend: (seq: number, text: string) => void;
}

function RowView({ undone, ...row }: RowProps & { undone: boolean }) {
  const shown = <RowContent {...row} />;
  return undone ? (
    <div className={styles.undone} data-undone="">
      {shown}
    </div>
  ) : (
    shown
  );
}

function RowContent({ row, thread, onRewind, onResend }: RowProps) {
  const over = hasEnded(thread.status);
  if ("burst" in row) return <Burst items={row.burst} />;
  const { item } = row;
  switch (item.kind) {
    case "message":
      if (item.role === "user")
        return <Request taskId={thread.taskId} item={item} onRewind={onRewind} onResend={onResend} />;
      return (
        <Message item={item} onRewind={onRewind} onRegenerate={over ? regenerate(thread, item, onResend) : undefined} />
      );
    case "tool":
      return <ToolCard item={item} live={thread.outputs.get(item.key)} over={over} />;
    case "approval":
      return <ApprovalCard taskId={thread.taskId} item={item} status={thread.status} />;
    case "question":
      return <QuestionCard taskId={thread.taskId} item={item} status={thread.status} />;
    case "step":
      return <StepRow item={item} onRewind={onRewind} />;
    case "plan":
      return isCrew(item) ? <Crew item={item} over={over} /> : <Plan item={item} over={over} />;
    case "verdict":
      return <Verdict item={item} />;
    case "note":
      return <NoteRow item={item} />;
  }
}

/** Sends your last message again, from the last answer of an ended task. */
function regenerate(thread: Thread, item: Item, onResend: RowProps["onResend"]): (() => void) | undefined {
  if (thread.items.findLast((one) => one.kind === "message") !== item) return undefined;
  const asked = thread.items.findLast((one) => one.kind === "message" && one.role === "user");
  return asked?.kind === "message" ? () => onResend(asked.seq, asked.text) : undefined;
}
