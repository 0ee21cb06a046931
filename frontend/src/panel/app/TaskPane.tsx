import { useEffect, useState } from "react";
import { hasEnded, isNotFound } from "../../client/index.ts";
import { useTask } from "../../client/react.ts";
import type { Status, Task } from "../../wire/types.ts";
import { ApprovalAnnouncement } from "../features/approvals/AllApprovals.tsx";
import { Queue } from "../features/chat/Queue.tsx";
import { Controls } from "../features/control/Controls.tsx";
import { TaskStatus } from "../features/control/TaskStatus.tsx";
import { describeActivity, Meter, StepBar } from "../features/progress/Meter.tsx";
import { Pipeline } from "../features/progress/Pipeline.tsx";
import { Changes } from "../features/review/Changes.tsx";
import { RewindDialog } from "../features/review/RewindDialog.tsx";
import { useRegistry } from "../shared/brain.tsx";
import { useMedia } from "../shared/media.ts";
import type { RewindPoint } from "../shared/rewind-point.ts";
import ui from "../shared/ui.module.css";
import { useCommands } from "../stores/commands.ts";
import { postToHost } from "../stores/host.ts";
import { selectTask } from "../stores/location.ts";
import { showToast } from "../stores/toasts.ts";
import app from "./App.module.css";
import { Conversation } from "./Conversation.tsx";
import styles from "./TaskPane.module.css";
import { useResend } from "./useResend.ts";
import { useQueueDelivery } from "./useSend.ts";
import { useStall } from "./useStall.ts";

/** The title of the tab shows the status. */
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
  /** The task as the list has it; undefined while the list is loading, or for an old task. */
  readonly listed: Task | undefined;
}

export function TaskPane({ taskId, listed }: Props) {
  const registry = useRegistry();
  const { thread, connection, failure } = useTask(registry, taskId);
  const sendNow = useQueueDelivery(registry.service, thread);
  const resend = useResend(registry, taskId);
  const stall = useStall(registry.service, thread);
  const wide = useMedia("(min-width: 1180px)");
  const [point, setPoint] = useState<RewindPoint>();
  useEffect(() => postToHost({ type: "rainy.status", taskId, status: thread.status }), [taskId, thread.status]);
  useTitle(thread.status, listed?.task);
  const last = thread.items.findLast((item) => item.kind === "message" && item.role === "assistant");
  useCommands([
    last?.kind === "message" && {
      id: "task.copy",
      title: "Copy the last answer",
      group: "Task",
      slash: "copy",
      run: () => void navigator.clipboard.writeText(last.text).then(() => showToast("Copied.")),
    },
    thread.lastSeq > 0 && {
      id: "task.fork",
      title: "Fork the task",
      group: "Task",
      slash: "fork",
      takesText: true,
      run: (text) => setPoint({ seq: thread.lastSeq, label: "the current state", mode: "fork", text }),
    },
  ]);
  if (failure !== undefined && isNotFound(failure)) return <p className={styles.gone}>This task no longer exists.</p>;
  const changes = <Changes thread={thread} wide={wide} onRewind={setPoint} />;
  const lost = connection.state === "lost" && !hasEnded(thread.status);
  const activity = lost ? "As of the last answer of the sidecar." : describeActivity(thread);
  return (
    <>
      <div className={app.pane}>
        <Conversation thread={thread} forkedFrom={listed?.forkedFrom} onRewind={setPoint} onResend={resend}>
          {!wide && changes}
        </Conversation>
        <div className={styles.strip} data-lost={lost || undefined}>
          <StepBar thread={thread} />
          {stall && (
            <p className={`${ui.column} ${styles.stall}`} role="alert">
              {stall}
            </p>
          )}
          <div className={`${ui.column} ${styles.row}`}>
            <TaskStatus status={thread.status} />
            <Pipeline thread={thread} />
            <span className={styles.activity} title={activity}>
              {activity}
            </span>
            <Meter thread={thread} />
            <Controls thread={thread} />
          </div>
          <ApprovalAnnouncement thread={thread} />
        </div>
      </div>
      <div className={app.queue}>
        <div className={ui.column}>
          <Queue taskId={taskId} onSendNow={sendNow} />
        </div>
      </div>
      {wide && <aside className={styles.review}>{changes}</aside>}
      {point && <RewindDialog thread={thread} point={point} onClose={() => setPoint(undefined)} onFork={selectTask} />}
    </>
  );
}
