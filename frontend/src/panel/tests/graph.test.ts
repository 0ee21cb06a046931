import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ImpactHit } from "../../wire/types.ts";
import { summary } from "../features/code/graphSummary.ts";
import { layOut, NODE, neighbour } from "../features/code/layout.ts";

const hit = (path: string, distance: number, through?: string): ImpactHit => ({
  path,
  distance,
  via: "imports it",
  line: 1,
  certain: true,
  ...(through === undefined ? {} : { through }),
});

describe("the drawing of a graph", () => {
  it("puts imports left and dependents right, each beside what it depends on", () => {
    const hits = [hit("b.py", 1, "a.py"), hit("c.py", 1, "a.py"), hit("x.py", 2, "c.py"), hit("y.py", 2, "b.py")];
    const { nodes, edges, columns } = layOut("a.py", { state: "ready", hits, imports: ["os.py"] });
    const inColumn = (column: number) => nodes.filter((node) => node.column === column).map(({ path }) => path);
    expect([0, 1, 2, 3].map(inColumn)).toEqual([["os.py"], ["a.py"], ["b.py", "c.py"], ["y.py", "x.py"]]);
    expect(columns.map(({ title }) => title)).toEqual(["It imports", "", "Depends on it", "2 imports away"]);
    expect(edges).toHaveLength(5);
  });

  it("leaves out what doesn't fit and says how much", () => {
    const hits = Array.from({ length: 50 }, (_, place) => hit(`f${place}.py`, 1));
    const { nodes, columns } = layOut("a.py", { state: "ready", hits });
    expect(nodes.length + columns[1]!.hidden).toBe(51);
  });

  it("connects a package by the files in it", () => {
    const { edges } = layOut("a/a.go", { state: "ready", hits: [hit("b/b.go", 1, "a/"), hit("c/c.go", 2, "b/")] });
    expect(edges).toHaveLength(2);
  });

  it("never lets two nodes overlap, and arrow keys always stay in the drawing", () => {
    const anyHits = fc.uniqueArray(fc.record({ name: fc.nat(60), distance: fc.integer({ min: 1, max: 4 }) }), {
      selector: ({ name }) => name,
    });
    fc.assert(
      fc.property(
        anyHits,
        fc.array(fc.constantFrom("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight")),
        (all, keys) => {
          const hits = all.map(({ name, distance }) => hit(`f${name}`, distance, `f${name - 1}`));
          const { nodes, width, height } = layOut("centre", { state: "ready", hits });
          for (const one of nodes)
            for (const other of nodes) {
              if (one === other) continue;
              expect(one.x !== other.x || Math.abs(one.y - other.y) >= NODE.height).toBe(true);
            }
          let at = nodes[0]!;
          for (const key of keys) at = neighbour(nodes, at, key) ?? at;
          expect(at.x + NODE.width <= width && at.y + NODE.height <= height).toBe(true);
        },
      ),
    );
  });
});

describe("the summary of a graph", () => {
  it("says that nothing depends on a file only from a whole index", () => {
    expect(summary("a.py", { state: "ready", hits: [], imports: [] })).toContain("Nothing in the index imports a.py");
    const half = summary("a.py", { state: "building", hits: [], imports: [] });
    expect(half).not.toContain("Nothing");
    expect(half).toContain("still being built");
  });

  it("says of hits from half an index that there may be more", () => {
    const hits = [hit("b.py", 1)];
    expect(summary("a.py", { state: "ready", hits })).toBe("1 file may break if it changes.");
    expect(summary("a.py", { state: "building", hits })).toMatch(/^1 file may break .* there may be more/);
  });
});
