import { memo, useState } from "react";
import { Elapsed } from "../../shared/Elapsed.tsx";
import { duration } from "../../shared/format.ts";
import { Icon } from "../../shared/icons.tsx";
import { Markdown } from "../../shared/markdown/Markdown.tsx";
import styles from "./Message.module.css";

interface Props {
  readonly text: string;
  /** How long it took. */
  readonly ms?: number | undefined;
  /** When it began, while it lasts. */
  readonly since?: string | undefined;
}

/** What a model thought before its answer or its calls; folded. */
export const Thinking = memo(function Thinking({ text, ms, since }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <div className={styles.thinking}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="chevron" />
        {since === undefined ? `Thought${ms ? ` for ${duration(ms)}` : ""}` : "Thinking…"}
        {since !== undefined && <Elapsed since={since} />}
      </button>
      {open && (
        <div>
          <Markdown text={text} growing={since !== undefined} />
        </div>
      )}
    </div>
  );
});
