import { type FormEvent, useState } from "react";
import type { Thread } from "../../../client/index.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Icon } from "../../shared/icons.tsx";
import ui from "../../shared/ui.module.css";
import { showError } from "../../stores/toasts.ts";
import styles from "./control.module.css";

/** Asks how to continue an escalated task. */
export function NextStep({ thread }: { thread: Thread }) {
  const service = useBrain();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  if (thread.status !== "escalated") return null;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await service.message(thread.taskId, text.trim());
      setText("");
    } catch (error) {
      showError(error);
    }
    setBusy(false);
  };
  return (
    <form className={styles.nextStep} aria-label="What to do next" onSubmit={submit}>
      <label htmlFor="next-step">What should it do next?</label>
      <textarea
        id="next-step"
        rows={2}
        placeholder="The task continues from here with your instructions."
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className={ui.primary} disabled={busy || text.trim() === ""}>
        <Icon name="resume" /> Continue
      </button>
    </form>
  );
}
