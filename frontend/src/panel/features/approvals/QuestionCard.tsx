import { type FormEvent, useState } from "react";
import { isActive, ProblemError, type QuestionItem } from "../../../client/index.ts";
import type { Status } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Icon } from "../../shared/icons.tsx";
import { revealHidden } from "../../shared/text.ts";
import ui from "../../shared/ui.module.css";
import { showError, showToast } from "../../stores/toasts.ts";
import styles from "./approvals.module.css";

interface Props {
  readonly taskId: string;
  readonly item: QuestionItem;
  readonly status: Status;
}

/** A question in the conversation: its choices as buttons, or a field for any answer. */
export function QuestionCard({ taskId, item, status }: Props) {
  const open = item.state === "asked" && isActive(status) && status !== "cancelling";
  return open ? <OpenQuestion taskId={taskId} item={item} /> : <AnsweredQuestion item={item} />;
}

/** Never takes the focus by itself, so that keys meant for the composer don't answer. */
function OpenQuestion({ taskId, item }: Omit<Props, "status">) {
  const service = useBrain();
  const [busy, setBusy] = useState(false);
  const [text, setText] = useState("");
  const send = async (answer: string) => {
    setBusy(true);
    try {
      await service.answer(taskId, item.questionId, answer);
    } catch (error) {
      if (error instanceof ProblemError && error.status === 409) showToast("Already answered in another window.");
      else showError(error);
      setBusy(false);
    }
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) void send(text.trim());
  };
  return (
    <section className={styles.approval} aria-label="Question">
      <header>
        <Icon name="question" />
        <strong className={styles.question}>{revealHidden(item.text)}</strong>
      </header>
      {item.choices ? (
        <footer>
          {item.choices.map((choice) => (
            <button key={choice} type="button" className={ui.button} disabled={busy} onClick={() => void send(choice)}>
              {revealHidden(choice)}
            </button>
          ))}
        </footer>
      ) : (
        <form onSubmit={onSubmit}>
          <footer>
            <input aria-label="Answer" value={text} disabled={busy} onChange={(event) => setText(event.target.value)} />
            <button type="submit" className={ui.primary} disabled={busy || !text.trim()}>
              Answer
            </button>
          </footer>
        </form>
      )}
    </section>
  );
}

function AnsweredQuestion({ item }: { item: QuestionItem }) {
  const answer = item.answer === undefined ? "Not answered" : revealHidden(item.answer);
  return (
    <p className={styles.answered} data-state={item.state}>
      <Icon name="question" /> {revealHidden(item.text)} <strong>{answer}</strong>
      {item.by === "policy" && " (the safe choice: you couldn't be asked)"}
    </p>
  );
}
