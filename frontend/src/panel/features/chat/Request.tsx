import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { MessageItem } from "../../../client/index.ts";
import { CopyButton } from "../../shared/copy-button.tsx";
import { Icon } from "../../shared/icons.tsx";
import type { RewindPoint } from "../../shared/rewind-point.ts";
import ui from "../../shared/ui.module.css";
import { focusComposer } from "../../stores/composer.ts";
import { useSentFiles } from "../../stores/pictures.ts";
import { AttachedFiles } from "./AttachedFiles.tsx";
import styles from "./Message.module.css";
import { RewindButton } from "./RewindButton.tsx";

interface Props {
  readonly taskId: string;
  readonly item: MessageItem;
  readonly onRewind: (point: RewindPoint) => void;
  /** Takes the message and everything after it back, and sends this text instead. */
  readonly onResend: (seq: number, text: string) => void;
}

/** A message of yours. It can be edited in place and sent again. */
export function Request({ taskId, item, onRewind, onResend }: Props) {
  const [editing, setEditing] = useState(false);
  const files = useSentFiles(taskId, item.text);
  if (editing)
    return (
      <EditRequest
        text={item.text}
        onCancel={() => {
          setEditing(false);
          focusComposer();
        }}
        onSend={(text) => {
          setEditing(false);
          focusComposer();
          onResend(item.seq, text);
        }}
      />
    );
  return (
    <div className={styles.request}>
      <div className={styles.actions}>
        <RewindButton item={item} onRewind={onRewind} />
        <button
          type="button"
          className={ui.iconButton}
          aria-label="Edit this message"
          title="Edit and send again: undoes what followed, files too"
          onClick={() => setEditing(true)}
        >
          <Icon name="edit" />
        </button>
        <CopyButton text={item.text} label="Copy message" />
      </div>
      <div className={styles.bubble}>
        <AttachedFiles files={files} />
        <LongText text={item.text} />
      </div>
    </div>
  );
}

interface EditProps {
  readonly text: string;
  readonly onCancel: () => void;
  readonly onSend: (text: string) => void;
}

function EditRequest({ text, onCancel, onSend }: EditProps) {
  const [written, setWritten] = useState(text);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(text.length, text.length);
  }, [text]);
  const send = () => written.trim() && onSend(written.trim());
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") onCancel();
    else if (event.key === "Enter" && !event.shiftKey) send();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={styles.editing}>
      <textarea
        ref={box}
        aria-label="Edited message"
        dir="auto"
        rows={Math.min(10, written.split("\n").length)}
        value={written}
        onChange={(event) => setWritten(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div>
        <small>This undoes what followed, files too. You can rewind it.</small>
        <button type="button" className={ui.button} onClick={onCancel}>
          Keep as it was
        </button>
        <button type="button" className={ui.primary} onClick={send}>
          Send again
        </button>
      </div>
    </div>
  );
}

const LONG_LINES = 14;

/** What you wrote; a long text, such as the diff of changes that you rejected, shows its beginning. */
function LongText({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const lines = text.split("\n");
  const cut = !whole && (lines.length > LONG_LINES || text.length > 2_000);
  return (
    <div className={styles.requestText} dir="auto">
      {cut ? lines.slice(0, LONG_LINES).join("\n").slice(0, 2_000) : text}
      {cut && (
        <button type="button" className={ui.link} onClick={() => setWhole(true)}>
          Show all
        </button>
      )}
    </div>
  );
}
