import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { hasEnded, notRewound, type Thread } from "../../client/index.ts";
import type { ForkedFrom } from "../../wire/types.ts";
import { AllApprovals } from "../features/approvals/AllApprovals.tsx";
import { ApprovalCard } from "../features/approvals/ApprovalCard.tsx";
import { QuestionCard } from "../features/approvals/QuestionCard.tsx";
import { DraftMessage, Message } from "../features/chat/Message.tsx";
import { NextStep } from "../features/control/NextStep.tsx";
import { Batch } from "../features/progress/Batch.tsx";
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
  readonly children?: ReactNode;
}

export function Conversation({ thread, forkedFrom, onRewind, children }: Props) {
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
            <RowView key={row.key} row={row} thread={thread} onRewind={onRewind} undone={!counts(seqOf(row))} />
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

const seqOf = (row: Row): number => ("batch" in row ? row.batch[0]!.seq : row.item.seq);

interface RowProps {
  readonly row: Row;
  readonly thread: Thread;
  readonly onRewind: (point: RewindPoint) => void;
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

function RowContent({ row, thread, onRewind }: RowProps) {
  const over = hasEnded(thread.status);
  if ("batch" in row) return <Batch items={row.batch} outputs={thread.outputs} over={over} />;
  const { item } = row;
  switch (item.kind) {
    case "message":
      return <Message item={item} thinking={thread.thoughts.get(item.key)} onRewind={onRewind} />;
    case "tool":
      return <ToolCard item={item} live={thread.outputs.get(item.key)} over={over} />;
    case "approval":
      return <ApprovalCard taskId={thread.taskId} item={item} status={thread.status} />;
    case "question":
      return <QuestionCard taskId={thread.taskId} item={item} status={thread.status} />;
    case "step":
      return <StepRow item={item} onRewind={onRewind} />;
    case "plan":
      return <Plan item={item} over={over} />;
    case "verdict":
      return <Verdict item={item} />;
    case "note":
      return <NoteRow item={item} />;
  }
}
