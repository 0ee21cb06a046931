import { useState } from "react";
import { canCancel, canResume, type Thread } from "../../../client/index.ts";
import { useBrain } from "../../shared/brain.tsx";
import { useCommands } from "../../shared/commands.ts";
import { Icon } from "../../shared/icons.tsx";
import { complain } from "../../shared/toasts.tsx";

interface Props {
  readonly thread: Thread;
  /** Called after something was set going, so that it is watched again. */
  readonly onGoing: () => void;
}

/** Stop it, or let it go on from its last checkpoint. */
export function Controls({ thread, onGoing }: Props) {
  const service = useBrain();
  const [busy, setBusy] = useState(false);
  const cancellable = canCancel(thread.status);
  const cancelling = thread.status === "cancelling";
  const resumable = canResume(thread);
  const ask = async (act: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await act();
      onGoing();
    } catch (error) {
      complain(error);
    } finally {
      setBusy(false);
    }
  };
  const cancel = () => void ask(() => service.cancel(thread.taskId));
  const resume = () => void ask(() => service.resume(thread.taskId));
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
        <button type="button" className="button" onClick={cancel} disabled={busy || cancelling} title="Ctrl+.">
          <Icon name="stop" /> Cancel
        </button>
      )}
      {resumable && (
        <button
          type="button"
          className="button"
          onClick={resume}
          disabled={busy}
          title={`Goes on after event ${thread.lastSeq}; nothing that is done is done again`}
        >
          <Icon name="resume" /> Resume
        </button>
      )}
    </>
  );
}
