import type { ImpactAnswer, ImpactHit } from "../../../wire/types.ts";

/** A layered drawing: what a file imports on the left, the file, and what depends on it in columns by distance. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly columns: readonly GraphColumn[];
  readonly width: number;
  readonly height: number;
}

export interface GraphNode {
  readonly id: string;
  readonly path: string;
  readonly column: number;
  readonly row: number;
  readonly x: number;
  readonly y: number;
  /** How it depends on what was asked for. */
  readonly hit?: ImpactHit;
}

export interface GraphEdge {
  readonly id: string;
  readonly certain: boolean;
  readonly line: string;
}

export interface GraphColumn {
  readonly title: string;
  readonly x: number;
  /** Nodes that are left out of the drawing; the list has them. */
  readonly hidden: number;
}

export const NODE = { width: 190, height: 40 };
export const HEAD = 26;
const GAP = { column: 56, row: 12 };
const ROWS = 20;
const CENTRE = "centre";

interface Placed {
  readonly id: string;
  readonly path: string;
  readonly hit?: ImpactHit;
}

export function layOut(asked: string, answer: ImpactAnswer): Graph {
  const imports = (answer.imports ?? []).map((path) => ({ id: `import ${path}`, path }));
  const columns: Placed[][] = [imports.slice(0, ROWS), [{ id: CENTRE, path: asked }]];
  const hidden = [imports.length - columns[0]!.length, 0];
  const parents = new Map<string, string>();
  const farthest = Math.max(0, ...answer.hits.map((hit) => hit.distance));
  for (let distance = 1; distance <= farthest; distance += 1) {
    const before = columns.at(-1)!;
    const all = answer.hits
      .filter((hit) => hit.distance === distance)
      .map((hit) => ({ id: `hit ${hit.path}`, path: hit.path, hit, parent: parentOf(hit, before) }))
      // Beside the node that it depends on, so that few lines cross.
      .sort((one, other) => one.parent - other.parent || one.path.localeCompare(other.path));
    const shown = all.slice(0, ROWS);
    for (const one of shown) if (one.parent < before.length) parents.set(one.id, before[one.parent]!.id);
    columns.push(shown);
    hidden.push(all.length - shown.length);
  }
  if (imports.length === 0) {
    columns.shift();
    hidden.shift();
  }
  return draw(columns, hidden, parents, imports.length > 0);
}

/** The place in the column before of what it depends on; behind the last one if that is not drawn. */
function parentOf({ through, distance }: ImpactHit, before: readonly Placed[]): number {
  if (distance === 1) return 0;
  const same = before.findIndex(({ path }) => path === through);
  const inPackage = before.findIndex(({ path }) => through?.endsWith("/") && path.startsWith(through));
  return same >= 0 ? same : inPackage >= 0 ? inPackage : before.length;
}

function draw(
  columns: readonly (readonly Placed[])[],
  hidden: readonly number[],
  parents: ReadonlyMap<string, string>,
  hasImports: boolean,
): Graph {
  const rows = Math.max(...columns.map((column) => column.length));
  const height = HEAD + rows * (NODE.height + GAP.row);
  const xOf = (column: number) => column * (NODE.width + GAP.column);
  const nodes = columns.flatMap((column, place) => {
    const top = HEAD + ((rows - column.length) * (NODE.height + GAP.row)) / 2;
    return column.map(
      (one, row): GraphNode => ({ ...one, column: place, row, x: xOf(place), y: top + row * (NODE.height + GAP.row) }),
    );
  });
  const at = new Map(nodes.map((node) => [node.id, node]));
  const edges = nodes.flatMap((node): GraphEdge[] => {
    if (node.id === CENTRE) return [];
    const isImport = node.hit === undefined;
    const parent = at.get(isImport ? CENTRE : (parents.get(node.id) ?? ""));
    if (parent === undefined) return [];
    const [left, right] = isImport ? [node, parent] : [parent, node];
    return [{ id: node.id, certain: node.hit?.certain ?? true, line: curve(left, right) }];
  });
  const titles = columns.map((_, place) => titleOf(place - (hasImports ? 1 : 0)));
  return {
    nodes,
    edges,
    columns: titles.map((title, place) => ({ title, x: xOf(place), hidden: hidden[place]! })),
    width: xOf(columns.length - 1) + NODE.width,
    height,
  };
}

function titleOf(distance: number): string {
  if (distance < 0) return "It imports";
  if (distance === 0) return "";
  return distance === 1 ? "Depends on it" : `${distance} imports away`;
}

function curve(left: GraphNode, right: GraphNode): string {
  const [x1, y1] = [left.x + NODE.width, left.y + NODE.height / 2];
  const [x2, y2] = [right.x, right.y + NODE.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

/** The node that an arrow key leads to, by columns and rows. */
export function neighbour(nodes: readonly GraphNode[], from: GraphNode, key: string): GraphNode | undefined {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (step !== undefined) {
    const beside = nodes.filter((node) => node.column === from.column + step);
    return beside.sort((one, other) => Math.abs(one.y - from.y) - Math.abs(other.y - from.y))[0];
  }
  const row = from.row + ({ ArrowUp: -1, ArrowDown: 1 }[key] ?? 0);
  return nodes.find((node) => node.column === from.column && node.row === row && node !== from);
}
