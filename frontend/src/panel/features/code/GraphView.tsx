import { type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import type { ImpactAnswer } from "../../../wire/types.ts";
import { leaf, plural } from "../../shared/format.ts";
import { revealHidden } from "../../shared/text.ts";
import styles from "./code.module.css";
import { type GraphNode, HEAD, layOut, NODE, neighbour } from "./layout.ts";

interface Props {
  readonly asked: string;
  readonly answer: ImpactAnswer;
  /** The id of the chosen node. */
  readonly chosen: string | undefined;
  readonly onChoose: (node: GraphNode) => void;
  /** Draws the graph of this node instead. */
  readonly onCentre: (path: string) => void;
}

/** The graph as a drawing. Arrow keys move between nodes; Enter draws the graph of the chosen one. */
export function GraphView({ asked, answer, chosen, onChoose, onCentre }: Props) {
  const graph = useMemo(() => layOut(asked, answer), [asked, answer]);
  const drawing = useRef<SVGSVGElement>(null);
  const focused = graph.nodes.find((node) => node.id === chosen) ?? graph.nodes.find(({ id }) => id === "centre")!;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each drawing
  useEffect(() => {
    if (!(document.activeElement instanceof HTMLInputElement)) focusNode(drawing.current, "centre");
  }, [graph]);
  const onKeyDown = (event: KeyboardEvent, node: GraphNode) => {
    if (event.key === "Enter" || event.key === " ") {
      if (node.id !== "centre") onCentre(node.path);
    } else {
      const next = neighbour(graph.nodes, node, event.key);
      if (next === undefined) return;
      focusNode(drawing.current, next.id);
    }
    event.preventDefault();
  };
  return (
    <div className={styles.drawing}>
      <svg
        ref={drawing}
        width={graph.width + 2}
        height={graph.height + 2}
        viewBox={`-1 -1 ${graph.width + 2} ${graph.height + 2}`}
        role="group"
        aria-label={`Graph of ${asked}`}
      >
        {graph.columns.map(({ title, x, hidden }) => (
          <text key={x} className={styles.heading} x={x + 2} y={HEAD - 12}>
            {title}
            {hidden > 0 && ` (${hidden} more in the list)`}
          </text>
        ))}
        {graph.edges.map(({ id, line, certain }) => (
          <path key={id} className={styles.edge} d={line} data-unsure={!certain || undefined} />
        ))}
        {graph.nodes.map((node) => (
          <g
            key={node.id}
            data-node={node.id}
            className={styles.node}
            role="button"
            tabIndex={node.id === focused.id ? 0 : -1}
            aria-label={describe(node)}
            aria-pressed={node.id === focused.id}
            data-centre={node.id === "centre" || undefined}
            transform={`translate(${node.x} ${node.y})`}
            onFocus={() => onChoose(node)}
            onClick={() => onChoose(node)}
            onDoubleClick={() => onCentre(node.path)}
            onKeyDown={(event) => onKeyDown(event, node)}
          >
            <rect width={NODE.width} height={NODE.height} rx={7} />
            <text>
              <tspan x={10} y={17} className={styles.name}>
                {nameOf(node)}
              </tspan>{" "}
              <tspan x={10} y={32} className={styles.folder}>
                {folderOf(node)}
              </tspan>
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

const focusNode = (drawing: SVGSVGElement | null, id: string): void =>
  drawing?.querySelector<SVGElement>(`[data-node="${CSS.escape(id)}"]`)?.focus();

const nameOf = ({ path }: GraphNode): string => {
  const name = revealHidden(leaf(path));
  return name.length <= 27 ? name : `${name.slice(0, 26)}…`;
};

/** The end of a long folder says more than its beginning. */
const folderOf = ({ path, hit }: GraphNode): string => {
  const folder = revealHidden(path.slice(0, Math.max(0, path.lastIndexOf("/"))) || (hit?.symbol ?? ""));
  return folder.length <= 32 ? folder : `…${folder.slice(-31)}`;
};

/** Begins with the words on the node, so that it can be chosen by voice. */
function describe(node: GraphNode): string {
  const name = `${nameOf(node)} ${folderOf(node)}`.trim();
  if (node.id === "centre") return name;
  if (node.hit === undefined) return `${name}, imported by it`;
  return `${name}, ${node.hit.via}, ${plural(node.hit.distance, "import")} away`;
}
