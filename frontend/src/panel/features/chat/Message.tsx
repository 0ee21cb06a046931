import { memo } from "react";
import type { Draft, MessageItem } from "../../../client/index.ts";
import { composerText } from "../../shared/composer-text.ts";
import { CopyButton } from "../../shared/copy-button.tsx";
import { Icon } from "../../shared/icons.tsx";
import { Markdown } from "../../shared/markdown/Markdown.tsx";

interface Props {
  readonly item: MessageItem;
  readonly thinking: string | undefined;
}

export const Message = memo(function Message({ item, thinking }: Props) {
  if (item.role === "user") return <Asked item={item} />;
  return (
    <div className="message">
      <Thinking text={thinking} />
      <Markdown text={item.text} />
      <div className="message-tools">
        <CopyButton text={item.text} label="Copy message" />
      </div>
    </div>
  );
});

const Asked = ({ item }: { item: MessageItem }) => (
  <div className="asked">
    <div className="message-tools">
      <button
        type="button"
        className="icon-button"
        aria-label="Edit this message"
        title="Edit this message and ask again"
        onClick={() => composerText.set({ text: item.text, append: false })}
      >
        <Icon name="edit" />
      </button>
      <CopyButton text={item.text} label="Copy message" />
    </div>
    <div className="asked-text">{item.text}</div>
  </div>
);

/** A message while it is being written. It is not announced word by word; the finished one is. */
export const DraftMessage = memo(function DraftMessage({ draft }: { draft: Draft }) {
  return (
    <div className={`message ${draft.cut ? "message-cut" : "message-growing"}`} aria-live="off">
      <Thinking text={draft.thinking} open={draft.text === ""} />
      <Markdown text={draft.text} growing={!draft.cut} />
      {draft.cut && <p className="message-note">Not finished.</p>}
    </div>
  );
});

const Thinking = ({ text, open = false }: { text: string | undefined; open?: boolean }) =>
  text ? (
    <details className="thinking">
      <summary>{open ? "Thinking…" : "Thought"}</summary>
      <div>{text}</div>
    </details>
  ) : null;
