import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const panel = join(import.meta.dirname, "..");

function sources(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? sources(path) : /\.tsx?$/.test(name) ? [path] : [];
  });
}

const imports = (file: string): string[] =>
  [...readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((found) =>
    relative(panel, join(file, "..", found[1]!)),
  );

describe("the panel's folders", () => {
  it.each(readdirSync(join(panel, "features")))("%s imports no other feature, and not the app", (feature) => {
    for (const file of sources(join(panel, "features", feature))) {
      for (const target of imports(file)) {
        expect(
          target.startsWith("features/") && !target.startsWith(`features/${feature}/`),
          `${file} imports ${target}`,
        ).toBe(false);
        expect(target.startsWith("app/"), `${file} imports ${target}`).toBe(false);
      }
    }
  });

  it.each(["shared", "stores"])("%s imports no feature", (folder) => {
    for (const file of sources(join(panel, folder)))
      for (const target of imports(file)) expect(target, file).not.toMatch(/^(features|app)\//);
  });

  it("nothing writes raw HTML", () => {
    for (const file of sources(panel)) {
      if (file.includes("/tests/")) continue;
      expect(readFileSync(file, "utf8"), file).not.toMatch(
        /dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write/,
      );
    }
  });
});
