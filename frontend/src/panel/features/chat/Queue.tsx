import { Icon } from "../../shared/icons.tsx";
import ui from "../../shared/ui.module.css";
import { replaceComposer } from "../../stores/composer.ts";
import { dequeue, useQueue } from "../../stores/queue.ts";
import styles from "./Queue.module.css";

interface Props {
  readonly taskId: string;
  readonly onSendNow: (id: string) => void;
}

/** Messages to a task that writes: they go when it can hear them, and you can change them until then. */
export function Queue({ taskId, onSendNow }: Props) {
  const queue = useQueue(taskId);
  if (queue.length === 0) return null;
  return (
    <ul className={styles.queue} aria-label="Queued messages">
      {queue.map(({ id, text, attachments }) => (
        <li key={id}>
          <span dir="auto">
            {text}
            {attachments.length > 0 && ` (${attachments.length} attached)`}
          </span>
          <button type="button" className={ui.plain} onClick={() => onSendNow(id)}>
            Send now
          </button>
          <button
            type="button"
            className={ui.iconButton}
            aria-label="Edit the queued message"
            onClick={() => {
              dequeue(id);
              replaceComposer(text);
            }}
          >
            <Icon name="edit" />
          </button>
          <button
            type="button"
            className={ui.iconButton}
            aria-label="Remove the queued message"
            onClick={() => dequeue(id)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
