import { type KeyboardEvent, useRef, useState } from "react";
import type { MemoryHit } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Spinner } from "../../shared/icons.tsx";
import { revealHidden } from "../../shared/text.ts";
import ui from "../../shared/ui.module.css";
import { openFile } from "../../stores/preview.ts";
import styles from "./code.module.css";
import { useAnswer } from "./useAnswer.ts";

const SHOWN = 20;
const SNIPPET_LINES = 4;

interface Props {
  readonly first: string;
  readonly workspace: string | undefined;
  readonly onGraph: (name: string) => void;
  readonly onClose: () => void;
}

export function FindPage({ first, workspace, onGraph, onClose }: Props) {
  const service = useBrain();
  const [typed, setTyped] = useState(first);
  const list = useRef<HTMLUListElement>(null);
  const query = typed.trim();
  const { value, failure, loading } = useAnswer(query, (signal) =>
    service.searchCode({ query, limit: SHOWN, ...(workspace === undefined ? {} : { workspace }) }, signal),
  );
  const open = ({ path, line }: MemoryHit) => {
    onClose();
    void openFile(path, line);
  };
  /** Arrow keys walk through the places, from the field and back to it. */
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    const places = [...(list.current?.querySelectorAll<HTMLElement>("[data-place]") ?? [])];
    const next = places.indexOf(document.activeElement as HTMLElement) + step;
    const target = next < 0 ? event.currentTarget.querySelector<HTMLElement>("input") : places[next];
    target?.focus();
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are for the field and the list inside
    <div className={styles.page} onKeyDown={onKeyDown}>
      <input
        // Not `search`: there, Esc would empty the field instead of closing the dialog.
        type="text"
        role="searchbox"
        // biome-ignore lint/a11y/noAutofocus: you open the page to type into it
        autoFocus
        data-first=""
        aria-label="Words, a name, or a question"
        placeholder="Where are prices rounded?"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <p className={styles.state} role="status">
        {loading ? (
          <>
            <Spinner /> Searching…
          </>
        ) : (
          failure || stateOf(query, value)
        )}
      </p>
      <ul className={styles.hits} ref={list} aria-label="Places">
        {(value?.hits ?? []).map((hit) => (
          <li key={`${hit.path}:${hit.line}:${hit.symbol}`}>
            <button type="button" data-place="" className={styles.hit} onClick={() => open(hit)}>
              <span className={styles.where}>
                <strong>{revealHidden(hit.symbol ?? hit.path)}</strong>
                <small>
                  {revealHidden(hit.path)}:{hit.line}
                </small>
                <small className={styles.why}>{revealHidden(hit.why)}</small>
              </span>
              <code>{revealHidden(hit.snippet.split("\n").slice(0, SNIPPET_LINES).join("\n"))}</code>
            </button>
            <button
              type="button"
              className={ui.button}
              aria-label={`Graph of ${hit.path}`}
              onClick={() => onGraph(hit.path)}
            >
              Graph
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function stateOf(query: string, answer: { readonly state: string; readonly hits: readonly unknown[] } | undefined) {
  if (query === "" || answer === undefined) return "Enter opens a place; the arrow keys walk through them.";
  if (answer.state !== "ready") return "The index is still being built; more places may appear. Search again.";
  return answer.hits.length === 0 ? "Nothing matches. Try other words, or a name from the code." : "";
}
