import { memo } from "react";
import type { Draft, MessageItem } from "../../../client/index.ts";
import { CopyButton } from "../../shared/copy-button.tsx";
import { Icon } from "../../shared/icons.tsx";
import { Markdown } from "../../shared/markdown/Markdown.tsx";
import type { RewindPoint } from "../../shared/rewind-point.ts";
import ui from "../../shared/ui.module.css";
import styles from "./Message.module.css";
import { RewindButton } from "./RewindButton.tsx";
import { Thinking } from "./Thinking.tsx";

interface Props {
  readonly item: MessageItem;
  readonly onRewind: (point: RewindPoint) => void;
  /** Asks the same again; undefined for an answer that is not the last. */
  readonly onRegenerate?: (() => void) | undefined;
}

/** An answer. */
export const Message = memo(function Message({ item, onRewind, onRegenerate }: Props) {
  const thought = item.thinking && <Thinking text={item.thinking} ms={item.thinkingMs} />;
  if (item.text === "") return thought || null;
  return (
    <div className={styles.message} data-message="done">
      {thought}
      <Markdown text={item.text} />
      <div className={styles.actions}>
        {onRegenerate && (
          <button
            type="button"
            className={ui.iconButton}
            aria-label="Answer again"
            title="Answer again: undoes this answer, files too"
            onClick={onRegenerate}
          >
            <Icon name="retry" />
          </button>
        )}
        <RewindButton item={item} onRewind={onRewind} />
        <CopyButton text={item.text} label="Copy message" />
      </div>
    </div>
  );
});

/** A message while it is being written. Screen readers announce the finished one only. */
export const DraftMessage = memo(function DraftMessage({ draft }: { draft: Draft }) {
  return (
    <div className={styles.message} data-message={draft.cut ? "cut" : "growing"} aria-live="off">
      {draft.thinking && <Thinking text={draft.thinking} since={draft.text === "" ? draft.thinkingSince : undefined} />}
      <Markdown text={draft.text} growing={!draft.cut} />
      {draft.cut && <p className={styles.cutNote}>Interrupted.</p>}
    </div>
  );
});
