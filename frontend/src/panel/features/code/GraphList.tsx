import type { ImpactAnswer } from "../../../wire/types.ts";
import { revealHidden } from "../../shared/text.ts";
import ui from "../../shared/ui.module.css";
import styles from "./code.module.css";

interface Props {
  readonly answer: ImpactAnswer;
  readonly onOpen: (path: string, line?: number) => void;
  readonly onGraph: (path: string) => void;
}

/** The graph as lists, nearest first; nothing is left out. */
export function GraphList({ answer: { hits, imports }, onOpen, onGraph }: Props) {
  const distances = [...new Set(hits.map((hit) => hit.distance))].sort((one, other) => one - other);
  return (
    <div className={styles.lists}>
      {imports !== undefined && imports.length > 0 && (
        <section aria-label="It imports">
          <h3>It imports</h3>
          <ul>
            {imports.map((path) => (
              <Row key={path} path={path} about="" onOpen={() => onOpen(path)} onGraph={onGraph} />
            ))}
          </ul>
        </section>
      )}
      {distances.map((distance) => {
        const title = distance === 1 ? "Depends on it" : `${distance} imports away`;
        return (
          <section key={distance} aria-label={title}>
            <h3>{title}</h3>
            <ul>
              {hits
                .filter((hit) => hit.distance === distance)
                .map(({ path, via, line, certain }) => (
                  <Row
                    key={path}
                    path={path}
                    about={`${via}${certain ? "" : " (not certain)"}`}
                    onOpen={() => onOpen(path, line)}
                    onGraph={onGraph}
                  />
                ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}

interface RowProps {
  readonly path: string;
  readonly about: string;
  readonly onOpen: () => void;
  readonly onGraph: (path: string) => void;
}

const Row = ({ path, about, onOpen, onGraph }: RowProps) => (
  <li>
    <button type="button" className={styles.row} onClick={onOpen}>
      <span>{revealHidden(path)}</span>
      {about && <small>{revealHidden(about)}</small>}
    </button>
    <button type="button" className={ui.button} aria-label={`Graph of ${path}`} onClick={() => onGraph(path)}>
      Graph
    </button>
  </li>
);
