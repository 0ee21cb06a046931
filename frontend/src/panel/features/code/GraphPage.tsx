import { useState } from "react";
import type { ImpactAnswer } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { plural } from "../../shared/format.ts";
import { Icon, Spinner } from "../../shared/icons.tsx";
import { referenceOf } from "../../shared/markdown/FileReference.tsx";
import { useMedia } from "../../shared/media.ts";
import { revealHidden } from "../../shared/text.ts";
import ui from "../../shared/ui.module.css";
import { appendToComposer } from "../../stores/composer.ts";
import { openFile } from "../../stores/preview.ts";
import styles from "./code.module.css";
import { GraphList } from "./GraphList.tsx";
import { GraphView } from "./GraphView.tsx";
import { isEmpty, summary } from "./graphSummary.ts";
import type { GraphNode } from "./layout.ts";
import { useAnswer } from "./useAnswer.ts";

const DEPTHS = [1, 2, 3] as const;
/** For an index that is being built; after that, the answer says that it isn't whole. */
const WAIT_SECONDS = 15;

interface Props {
  readonly first: string;
  readonly workspace: string | undefined;
  readonly onGraph: (name: string) => void;
  readonly onFind: (words: string) => void;
  readonly onClose: () => void;
}

/** What a file imports, and what breaks if it or a symbol changes: as a drawing or a list. */
export function GraphPage({ first, workspace, onGraph, onFind, onClose }: Props) {
  const service = useBrain();
  const wide = useMedia("(min-width: 700px)");
  const [typed, setTyped] = useState(first);
  const [depth, setDepth] = useState<number>(2);
  const [asList, setAsList] = useState<boolean>();
  const [chosen, setChosen] = useState<GraphNode>();
  const { value, failure, loading } = useAnswer(
    first && `${first} ${depth}`,
    (signal) =>
      service.impact(
        { ...askFor(first), depth, wait: WAIT_SECONDS, ...(workspace === undefined ? {} : { workspace }) },
        signal,
      ),
    0,
  );
  const listed = asList ?? !wide;
  const open = (path: string, line?: number) => {
    onClose();
    void openFile(path, line);
  };
  return (
    <div className={styles.page}>
      <form
        className={styles.bar}
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim()) onGraph(typed.trim());
        }}
      >
        <button
          type="button"
          className={ui.button}
          // biome-ignore lint/a11y/noAutofocus: the button that led here is gone; the focus must not fall to the page
          autoFocus={first !== ""}
          onClick={() => onFind("")}
        >
          <Icon name="search" /> Find
        </button>
        <input
          type="text"
          spellCheck={false}
          data-first=""
          aria-label="File or symbol"
          placeholder="A file or a symbol, such as src/prices.py"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <fieldset className={ui.segments}>
          <legend className={ui.visuallyHidden}>Imports away</legend>
          {DEPTHS.map((each) => (
            <label key={each}>
              <input type="radio" name="depth" checked={depth === each} onChange={() => setDepth(each)} />
              <span title={`Up to ${plural(each, "import")} away`}>{each}</span>
            </label>
          ))}
        </fieldset>
        <button type="button" className={ui.button} aria-pressed={listed} onClick={() => setAsList(!listed)}>
          List
        </button>
      </form>
      <p className={styles.state} role="status">
        {loading ? (
          <>
            <Spinner /> Looking at the imports…
          </>
        ) : (
          failure || summary(first, value)
        )}
      </p>
      {value && !failure && (listed || isEmpty(value)) && <GraphList answer={value} onOpen={open} onGraph={onGraph} />}
      {value && !failure && !listed && !isEmpty(value) && (
        <GraphView asked={first} answer={value} chosen={chosen?.id} onChoose={setChosen} onCentre={onGraph} />
      )}
      {chosen && !listed && (
        <footer className={styles.chosen}>
          <span>
            <strong>{revealHidden(chosen.path)}</strong>
            {chosen.hit && <small>{revealHidden(detailOf(chosen.hit))}</small>}
          </span>
          {chosen.id !== "centre" && (
            <button type="button" className={ui.button} onClick={() => onGraph(chosen.path)}>
              Its graph
            </button>
          )}
          <button
            type="button"
            className={ui.button}
            onClick={() => {
              onClose();
              appendToComposer(`@${chosen.path} `);
            }}
          >
            Mention
          </button>
          <button type="button" className={ui.primary} onClick={() => open(chosen.path, chosen.hit?.line)}>
            Open
          </button>
        </footer>
      )}
    </div>
  );
}

const detailOf = ({ symbol, via, line, certain }: ImpactAnswer["hits"][number]): string =>
  `${symbol ? `${symbol}, ` : ""}${via}, line ${line}${certain ? "" : " (not certain)"}`;

/** A path has a slash or a known extension; anything else, such as `Cart.add`, is the name of a symbol. */
const askFor = (text: string): { path: string } | { symbol: string } =>
  text.includes("/") || referenceOf(text) ? { path: text } : { symbol: text };
