import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { counting, hasEnded, type MessageItem, type StepItem, type Thread } from "../../client/index.ts";
import type { ForkedFrom } from "../../wire/types.ts";
import { ApprovalCard } from "../features/approvals/ApprovalCard.tsx";
import { Several } from "../features/approvals/Several.tsx";
import { DraftMessage, Message } from "../features/chat/Message.tsx";
import { WhatNext } from "../features/control/WhatNext.tsx";
import { Batch } from "../features/progress/Batch.tsx";
import { NoteRow } from "../features/progress/NoteRow.tsx";
import { PlanOrVerdict } from "../features/progress/PlanOrVerdict.tsx";
import { StepRow } from "../features/progress/StepRow.tsx";
import { structured, willBeStructured } from "../features/progress/structured.ts";
import { ToolCard } from "../features/progress/ToolCard.tsx";
import { Icon } from "../shared/icons.tsx";
import type { Point } from "../shared/point.ts";
import { Ending } from "./Ending.tsx";
import { firstShown, type Row, rowsOf } from "./rows.ts";
import { useFollowEnd } from "./useFollowEnd.ts";

/** Drawn from the end; what is further up is drawn when somebody goes there. */
const WINDOW = 80;

interface Props {
  readonly thread: Thread;
  /** The task that this one was forked from. */
  readonly from?: ForkedFrom | undefined;
  readonly onGoing: () => void;
  readonly onBack: (point: Point) => void;
  readonly children?: ReactNode;
}

export function Conversation({ thread, from, onGoing, onBack, children }: Props) {
  const { box, inner, away, toEnd } = useFollowEnd();
  const [shown, setShown] = useState(WINDOW);
  const rows = useMemo(() => rowsOf(thread.items), [thread.items]);
  const counts = useMemo(() => counting(thread.rewinds), [thread.rewinds]);
  const earlier = firstShown(rows, shown);
  const visible = earlier > 0 ? rows.slice(earlier) : rows;
  const height = useRef(0);
  const showMore = () => {
    height.current = box.current?.scrollHeight ?? 0;
    setShown(shown + WINDOW);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was in sight stays there when more is put above it
  useLayoutEffect(() => {
    if (height.current > 0 && box.current) box.current.scrollTop += box.current.scrollHeight - height.current;
    height.current = 0;
  }, [shown]);
  return (
    <div className="conversation-frame">
      <div className="conversation" role="log" aria-label="Conversation" aria-live="polite" ref={box} tabIndex={0}>
        <div className="column" ref={inner}>
          {earlier > 0 && (
            <button type="button" className="button button-plain earlier" onClick={showMore}>
              Show more of what came earlier
            </button>
          )}
          {from && earlier === 0 && (
            <p className="forked">
              <Icon name="rewind" /> Begun from{" "}
              <a href={`#task=${from.taskId}`} title={`Event ${from.seq} of ${from.taskId}`}>
                another task
              </a>
            </p>
          )}
          {visible.map((row) => (
            <RowView key={row.key} row={row} thread={thread} onBack={onBack} undone={!counts(seqOf(row))} />
          ))}
          {[...thread.drafts.values()].map((draft) =>
            willBeStructured(draft.agent, draft.text) ? (
              <p key={draft.messageId} className="writing" aria-live="off">
                {draft.agent === "planner" ? "Writing the plan…" : "Writing the verdict…"}
              </p>
            ) : (
              <DraftMessage key={draft.messageId} draft={draft} />
            ),
          )}
          <Several thread={thread} />
          <WhatNext thread={thread} onGoing={onGoing} />
          <Ending thread={thread} />
          {children}
        </div>
      </div>
      {away && (
        <button type="button" className="button to-end" onClick={toEnd}>
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
  readonly onBack: (point: Point) => void;
}

function RowView({ undone, ...row }: RowProps & { undone: boolean }) {
  const shown = <RowContent {...row} />;
  return undone ? <div className="undone">{shown}</div> : shown;
}

function RowContent({ row, thread, onBack }: RowProps) {
  const over = hasEnded(thread.status);
  if ("batch" in row) return <Batch items={row.batch} outputs={thread.outputs} over={over} />;
  const { item } = row;
  switch (item.kind) {
    case "message":
      return <Said item={item} thread={thread} onBack={onBack} />;
    case "tool":
      return <ToolCard item={item} live={thread.outputs.get(item.key)} over={over} />;
    case "approval":
      return <ApprovalCard taskId={thread.taskId} item={item} status={thread.status} />;
    case "step":
      return <StepRow item={item} onBack={onBack} />;
    case "note":
      return <NoteRow item={item} />;
  }
}

interface SaidProps extends Omit<RowProps, "row"> {
  readonly item: MessageItem;
}

function Said({ item, thread, onBack }: SaidProps) {
  const said = useMemo(() => (item.role === "user" ? undefined : structured(item.agent, item.text)), [item]);
  const states = useMemo(() => statesOf(said === undefined ? [] : thread.items), [said, thread.items]);
  if (said === undefined) return <Message item={item} thinking={thread.thoughts.get(item.key)} onBack={onBack} />;
  return <PlanOrVerdict said={said} states={states} over={hasEnded(thread.status)} />;
}

/** How far each step is, by its words; a plan's steps are told with its titles. */
const statesOf = (items: Thread["items"]): ReadonlyMap<string, StepItem["state"]> =>
  new Map(items.flatMap((item) => (item.kind === "step" ? [[item.message, item.state] as const] : [])));
