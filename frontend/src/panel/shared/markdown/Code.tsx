import { memo, useEffect, useState } from "react";
import { insertInEditor, useHostOffers } from "../../stores/host.ts";
import { CopyButton } from "../copy-button.tsx";
import { Icon } from "../icons.tsx";
import ui from "../ui.module.css";
import styles from "./Code.module.css";
import type { Line } from "./highlight.ts";

/** Longer code is not highlighted, to avoid a pause. */
const MOST = 40_000;

interface Props {
  readonly text: string;
  readonly language: string;
  /** Still being written: highlighted when it is complete. */
  readonly growing?: boolean;
}

export const Code = memo(function Code({ text, language, growing = false }: Props) {
  const lines = useHighlighted(text, language, growing);
  const insertable = useHostOffers("insert");
  const name = language.trim().split(/\s/)[0] ?? "";
  return (
    <figure className={styles.code}>
      <figcaption>
        <span>{name}</span>
        {insertable && (
          <button
            type="button"
            className={ui.iconButton}
            aria-label="Insert at cursor"
            title="Insert at cursor"
            onClick={() => insertInEditor(text)}
          >
            <Icon name="edit" />
          </button>
        )}
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      <pre tabIndex={0} role="group" aria-label={name ? `Code, ${name}` : "Code"}>
        <code>{isDiff(name) ? text.split("\n").map(diffLine) : lines ? lines.map(line) : text}</code>
      </pre>
    </figure>
  );
});

const isDiff = (language: string): boolean => language === "diff" || language === "patch";

const DIFF_KINDS: Record<string, string> = { "+": "added", "-": "removed", "@": "hunk" };

const diffLine = (text: string, place: number) => (
  <span key={place} data-diff={/^(\+\+\+|---) /.test(text) ? "hunk" : DIFF_KINDS[text[0] ?? ""]}>
    {text}
    {"\n"}
  </span>
);

export const line = (pieces: Line, place: number) => (
  <span key={place}>
    {pieces.map((piece, column) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: see above
      <span key={column} data-token={piece.kind}>
        {piece.text}
      </span>
    ))}
    {"\n"}
  </span>
);

export function useHighlighted(text: string, language: string, growing: boolean): readonly Line[] | undefined {
  const [found, setFound] = useState<{ text: string; lines: readonly Line[] }>();
  useEffect(() => {
    if (growing || language === "" || isDiff(language) || text.length > MOST) return;
    let mounted = true;
    void import("./highlight.ts")
      .then(({ highlight }) => highlight(text, language))
      .then((lines) => {
        if (mounted && lines) setFound({ text, lines });
      })
      .catch(() => {});
    return () => {
      mounted = false;
    };
  }, [text, language, growing]);
  return found?.text === text ? found.lines : undefined;
}
