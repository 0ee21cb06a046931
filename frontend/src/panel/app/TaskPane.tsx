import { type RefObject, useEffect, useState } from "react";
import { hasEnded, isNotFound } from "../../client/index.ts";
import { useBrainTask } from "../../client/react.ts";
import type { Status, Task } from "../../wire/types.ts";
import { Controls } from "../features/control/Controls.tsx";
import { TaskStatus } from "../features/control/TaskStatus.tsx";
import { doing, Meter, StepBar } from "../features/progress/Meter.tsx";
import { Pipeline } from "../features/progress/Pipeline.tsx";
import { Changes } from "../features/review/Changes.tsx";
import { GoBack } from "../features/review/GoBack.tsx";
import { useBrain } from "../shared/brain.tsx";
import { useCommands } from "../shared/commands.ts";
import { tellHost } from "../shared/host-port.ts";
import { useMedia } from "../shared/media.ts";
import type { Point } from "../shared/point.ts";
import { usePreferences } from "../shared/preferences.ts";
import { say } from "../shared/toasts.tsx";
import { Conversation } from "./Conversation.tsx";
import { selectTask } from "./location.ts";

/** Whoever has many tabs sees from outside how it is going. */
function useTitle(status: Status, task: string | undefined): void {
  useEffect(() => {
    if (task !== undefined) document.title = `${status}: ${task.split("\n", 1)[0]!.slice(0, 60)} – Rainy Brain`;
    return () => {
      document.title = "Rainy Brain";
    };
  }, [status, task]);
}

interface Props {
  readonly taskId: string;
  /** What the list knows of it: when it knows more than is shown here, the task was taken up again elsewhere. */
  readonly listed: Task | undefined;
  readonly again: RefObject<() => void>;
  readonly look: () => void;
}

export function TaskPane({ taskId, listed, again, look }: Props) {
  const { notifications } = usePreferences();
  const watched = useBrainTask(useBrain(), taskId, { whileHidden: notifications });
  const { thread, connection, failure, again: watch } = watched;
  const wide = useMedia("(min-width: 1180px)");
  const [point, setPoint] = useState<Point>();
  again.current = watch;
  useEffect(() => {
    if (connection.state === "closed" && failure === undefined && listed && listed.lastSeq > thread.lastSeq) watch();
  }, [connection.state, failure, listed, thread.lastSeq, watch]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is out of date when the status changes
  useEffect(look, [thread.status]);
  useEffect(() => tellHost({ type: "rainy.status", taskId, status: thread.status }), [taskId, thread.status]);
  useTitle(thread.status, listed?.task);
  const going = () => {
    watch();
    look();
  };
  const last = thread.items.findLast((item) => item.kind === "message" && item.role === "assistant");
  useCommands([
    last?.kind === "message" && {
      id: "task.copy",
      title: "Copy the last answer",
      group: "Task",
      slash: "copy",
      run: () => void navigator.clipboard.writeText(last.text).then(() => say("Copied.")),
    },
    thread.lastSeq > 0 && {
      id: "task.fork",
      title: "Fork the task",
      group: "Task",
      slash: "fork",
      takesWords: true,
      run: (words) => setPoint({ seq: thread.lastSeq, label: "where it is now", way: "fork", words }),
    },
  ]);
  if (failure !== undefined && isNotFound(failure)) return <p className="gone">This task is not there any more.</p>;
  const changes = <Changes thread={thread} wide={wide} onGoing={going} onBack={setPoint} />;
  return (
    <>
      <div className="pane">
        <Conversation thread={thread} from={listed?.forkedFrom} onGoing={going} onBack={setPoint}>
          {!wide && changes}
        </Conversation>
        <div className="strip">
          <StepBar thread={thread} />
          <div className="column strip-row">
            <TaskStatus status={thread.status} />
            <Pipeline thread={thread} />
            <span className="strip-doing" title={doing(thread)}>
              {doing(thread)}
            </span>
            <Meter thread={thread} />
            <Controls thread={thread} onGoing={going} />
          </div>
          {connection.state === "lost" && !hasEnded(thread.status) && (
            <p className="column strip-lost" role="alert">
              The connection is lost; trying again. Nothing is missed.
            </p>
          )}
        </div>
      </div>
      {wide && <aside className="review-side">{changes}</aside>}
      {point && (
        <GoBack
          thread={thread}
          point={point}
          onClose={() => setPoint(undefined)}
          onDone={going}
          onFork={(forked) => {
            selectTask(forked);
            look();
          }}
        />
      )}
    </>
  );
}
