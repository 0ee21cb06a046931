import { useState } from "react";
import { canCancel, canResume, type Thread } from "../../../client/index.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Icon } from "../../shared/icons.tsx";
import ui from "../../shared/ui.module.css";
import { useCommands } from "../../stores/commands.ts";
import { showError } from "../../stores/toasts.ts";

/** Cancels the task, or resumes it from its last checkpoint. */
export function Controls({ thread }: { thread: Thread }) {
  const service = useBrain();
  const [busy, setBusy] = useState(false);
  const cancellable = canCancel(thread.status);
  const cancelling = thread.status === "cancelling";
  const resumable = canResume(thread);
  const run = async (act: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await act();
    } catch (error) {
      showError(error);
    } finally {
      setBusy(false);
    }
  };
  const cancel = () => void run(() => service.cancel(thread.taskId));
  const resume = () => void run(() => service.resume(thread.taskId));
  useCommands([
    cancellable && {
      id: "task.cancel",
      title: "Cancel the task",
      group: "Task",
      keys: "mod+.",
      slash: "cancel",
      run: cancel,
    },
    resumable && {
      id: "task.resume",
      title: "Resume the task",
      group: "Task",
      keys: "mod+shift+.",
      slash: "resume",
      run: resume,
    },
  ]);
  return (
    <>
      {(cancellable || cancelling) && (
        <button type="button" className={ui.button} onClick={cancel} disabled={busy || cancelling} title="Ctrl+.">
          <Icon name="stop" /> Cancel
        </button>
      )}
      {resumable && (
        <button
          type="button"
          className={ui.button}
          onClick={resume}
          disabled={busy}
          title="Continues from the last checkpoint; finished steps are not repeated"
        >
          <Icon name="resume" /> Resume
        </button>
      )}
    </>
  );
}
