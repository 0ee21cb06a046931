import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { counting, type Thread } from "../../client/index.ts";
import type { ForkedFrom } from "../../wire/types.ts";
import { ApprovalCard } from "../features/approvals/ApprovalCard.tsx";
import { Several } from "../features/approvals/Several.tsx";
import { DraftMessage, Message } from "../features/chat/Message.tsx";
import { WhatNext } from "../features/control/WhatNext.tsx";
import { Batch } from "../features/progress/Batch.tsx";
import { NoteRow } from "../features/progress/NoteRow.tsx";
import { StepRow } from "../features/progress/StepRow.tsx";
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
          {[...thread.drafts.values()].map((draft) => (
            <DraftMessage key={draft.messageId} draft={draft} />
          ))}
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
  if ("batch" in row) return <Batch items={row.batch} outputs={thread.outputs} />;
  const { item } = row;
  switch (item.kind) {
    case "message":
      return <Message item={item} thinking={thread.thoughts.get(item.key)} onBack={onBack} />;
    case "tool":
      return <ToolCard item={item} live={thread.outputs.get(item.key)} />;
    case "approval":
      return <ApprovalCard taskId={thread.taskId} item={item} status={thread.status} />;
    case "step":
      return <StepRow item={item} onBack={onBack} />;
    case "note":
      return <NoteRow item={item} />;
  }
}
