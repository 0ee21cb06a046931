import { useEffect, useRef, useState } from "react";
import { useBrain } from "../../shared/brain.tsx";
import { Dialog } from "../../shared/dialog.tsx";
import { line as pieces, useHighlighted } from "../../shared/markdown/Code.tsx";
import { type ReadLines, readLines } from "../../shared/search.ts";
import { revealHidden } from "../../shared/text.ts";
import ui from "../../shared/ui.module.css";
import { showCode } from "../../stores/code.ts";
import { appendToComposer } from "../../stores/composer.ts";
import type { PreviewedFile } from "../../stores/preview.ts";
import styles from "./Preview.module.css";

/** Lines around the one that was named. */
const AROUND = 200;

interface Props {
  readonly file: PreviewedFile;
  readonly workspace: string | undefined;
  readonly onClose: () => void;
}

/** A file of the workspace, with the lines around the one that an answer names. */
export default function Preview({ file: { path, line }, workspace, onClose }: Props) {
  const service = useBrain();
  const [found, setFound] = useState<ReadLines>();
  const [failure, setFailure] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    const first = line === undefined ? 1 : Math.max(1, line - AROUND);
    readLines({ service, workspace }, path, [first, first + 2 * AROUND], stop.signal).then(setFound, (error: Error) =>
      stop.signal.aborted ? undefined : setFailure(error.message),
    );
    return () => stop.abort();
  }, [service, workspace, path, line]);
  const mention = () => {
    onClose();
    appendToComposer(`@${path}${line === undefined ? "" : `:${line}`} `);
  };
  return (
    <Dialog
      label={line === undefined ? path : `${path}, line ${line}`}
      className={styles.preview}
      onClose={onClose}
      titled
    >
      {failure && (
        <p className={ui.note} data-tone="warn">
          {revealHidden(failure)}
        </p>
      )}
      {found && <Lines found={found} path={path} wanted={line} />}
      <footer className={styles.foot}>
        <button
          type="button"
          className={ui.button}
          onClick={() => {
            onClose();
            showCode("graph", path);
          }}
        >
          What depends on it?
        </button>
        <button type="button" className={ui.button} onClick={mention}>
          Mention
        </button>
      </footer>
    </Dialog>
  );
}

function Lines({ found, path, wanted }: { found: ReadLines; path: string; wanted: number | undefined }) {
  const text = found.lines.join("\n");
  const coloured = useHighlighted(text, path.split(".").at(-1) ?? "", false);
  const marked = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    marked.current?.scrollIntoView({ block: "center" });
  }, []);
  return (
    <div className={styles.lines} tabIndex={0} role="group" aria-label={`Lines of ${path}`}>
      <table>
        <tbody>
          {found.lines.map((one, place) => {
            const number = found.first + place;
            return (
              <tr
                key={number}
                ref={number === wanted ? marked : undefined}
                data-wanted={number === wanted || undefined}
              >
                <td>{number}</td>
                <td>{coloured?.[place] ? pieces(coloured[place], place) : revealHidden(one)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
