import { memo } from "react";
import type { Draft, MessageItem } from "../../../client/index.ts";
import { CopyButton } from "../../shared/copy-button.tsx";
import { Icon } from "../../shared/icons.tsx";
import { Markdown } from "../../shared/markdown/Markdown.tsx";
import type { RewindPoint } from "../../shared/rewind-point.ts";
import ui from "../../shared/ui.module.css";
import { replaceComposer } from "../../stores/composer.ts";
import styles from "./Message.module.css";
import { splitDiff } from "./split-diff.ts";

interface Props {
  readonly item: MessageItem;
  readonly thinking: string | undefined;
  readonly onRewind: (point: RewindPoint) => void;
}

export const Message = memo(function Message({ item, thinking, onRewind }: Props) {
  if (item.role === "user") return <Request item={item} onRewind={onRewind} />;
  return (
    <div className={styles.message} data-message="done">
      <Thinking text={thinking} />
      <Markdown text={item.text} />
      <div className={styles.actions}>
        <RewindButton item={item} onRewind={onRewind} />
        <CopyButton text={item.text} label="Copy message" />
      </div>
    </div>
  );
});

/** Rewinds to the moment before the message. */
const RewindButton = ({ item, onRewind }: Pick<Props, "item" | "onRewind">) => (
  <button
    type="button"
    className={ui.iconButton}
    aria-label="Rewind to before this message"
    title="Rewind to before this message, or fork from there"
    onClick={() => onRewind({ seq: item.seq - 1, label: "before this message" })}
  >
    <Icon name="rewind" />
  </button>
);

const Request = ({ item, onRewind }: Pick<Props, "item" | "onRewind">) => (
  <div className={styles.request}>
    <div className={styles.actions}>
      <RewindButton item={item} onRewind={onRewind} />
      <button
        type="button"
        className={ui.iconButton}
        aria-label="Edit this message"
        title="Edit and send again"
        onClick={() => replaceComposer(item.text)}
      >
        <Icon name="edit" />
      </button>
      <CopyButton text={item.text} label="Copy message" />
    </div>
    <div className={styles.requestText}>
      <RequestText text={item.text} />
    </div>
  </div>
);

/** Folds away a diff at the end of a message, as in “I rejected these changes”. */
const RequestText = ({ text }: { text: string }) => {
  const { text: words, diff, files } = splitDiff(text);
  if (diff === undefined) return words;
  return (
    <>
      {words}
      <details className={styles.requestDiff}>
        <summary>{files.join(", ") || "the changes"}</summary>
        <pre>{diff}</pre>
      </details>
    </>
  );
};

/** A message while it is being written. Screen readers announce the finished one only. */
export const DraftMessage = memo(function DraftMessage({ draft }: { draft: Draft }) {
  return (
    <div className={styles.message} data-message={draft.cut ? "cut" : "growing"} aria-live="off">
      <Thinking text={draft.thinking} open={draft.text === ""} />
      <Markdown text={draft.text} growing={!draft.cut} />
      {draft.cut && <p className={styles.cutNote}>Interrupted.</p>}
    </div>
  );
});

const Thinking = ({ text, open = false }: { text: string | undefined; open?: boolean }) =>
  text ? (
    <details className={styles.thinking}>
      <summary>{open ? "Thinking…" : "Thought"}</summary>
      <div>{text}</div>
    </details>
  ) : null;
