import { memo } from "react";
import type { Draft, MessageItem } from "../../../client/index.ts";
import { composerText } from "../../shared/composer-text.ts";
import { CopyButton } from "../../shared/copy-button.tsx";
import { Icon } from "../../shared/icons.tsx";
import { Markdown } from "../../shared/markdown/Markdown.tsx";
import type { Point } from "../../shared/point.ts";
import { withoutDiff } from "./quoting.ts";

interface Props {
  readonly item: MessageItem;
  readonly thinking: string | undefined;
  readonly onBack: (point: Point) => void;
}

export const Message = memo(function Message({ item, thinking, onBack }: Props) {
  if (item.role === "user") return <Asked item={item} onBack={onBack} />;
  return (
    <div className="message">
      <Thinking text={thinking} />
      <Markdown text={item.text} />
      <div className="message-tools">
        <BackButton item={item} onBack={onBack} />
        <CopyButton text={item.text} label="Copy message" />
      </div>
    </div>
  );
});

/** To the moment before it was said: what it led to is what one wants otherwise. */
const BackButton = ({ item, onBack }: Pick<Props, "item" | "onBack">) => (
  <button
    type="button"
    className="icon-button"
    aria-label="Go back to before this"
    title="Go back to before this, or begin a new task from there"
    onClick={() => onBack({ seq: item.seq - 1, label: "before this message" })}
  >
    <Icon name="rewind" />
  </button>
);

const Asked = ({ item, onBack }: Pick<Props, "item" | "onBack">) => (
  <div className="asked">
    <div className="message-tools">
      <BackButton item={item} onBack={onBack} />
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
    <div className="asked-text">
      <Words text={item.text} />
    </div>
  </div>
);

/** What the panel says for the person may hold a diff; that is there to be looked up, not to be read. */
const Words = ({ text }: { text: string }) => {
  const { words, diff, files } = withoutDiff(text);
  if (diff === undefined) return words;
  return (
    <>
      {words}
      <details className="asked-diff">
        <summary>{files.join(", ") || "the changes"}</summary>
        <pre>{diff}</pre>
      </details>
    </>
  );
};

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
