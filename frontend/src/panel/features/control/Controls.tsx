import { useEffect, useRef, useState } from "react";
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
  useEscape(cancellable && !busy, cancel);
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
        <button
          type="button"
          className={ui.button}
          onClick={cancel}
          disabled={busy || cancelling}
          title="Esc or Ctrl+."
        >
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

/** A field such as a search, where Esc leaves or empties the field. */
const isOtherField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input, textarea:not([data-composer]), select");

/** Esc stops the task, unless it closes something first: a dialog, a menu, suggestions or an edited message. */
function useEscape(enabled: boolean, cancel: () => void): void {
  const latest = useRef(cancel);
  latest.current = cancel;
  useEffect(() => {
    if (!enabled) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || event.repeat || event.isComposing) return;
      if (document.querySelector("dialog[open], [role=menu]") || isOtherField(event.target)) return;
      latest.current();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [enabled]);
}
