import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const panel = join(import.meta.dirname, "..");
const files = readdirSync(panel, { recursive: true, encoding: "utf8" }).map((name) => join(panel, name));
const sources = files.filter((file) => /\.tsx?$/.test(file) && !file.includes("/tests/"));
const modules = files.filter((file) => file.endsWith(".module.css"));

const definedIn = (module: string): Set<string> =>
  new Set([...readFileSync(module, "utf8").matchAll(/\.([a-z]\w*)(?=[^{}]*\{)/gi)].map((found) => found[1]!));

/** The classes that a source uses, by module. */
function usedIn(file: string): [module: string, name: string][] {
  const text = readFileSync(file, "utf8");
  const code = text.replace(/^import .*$/gm, "");
  return [...text.matchAll(/import (\w+) from "([^"]+\.module\.css)"/g)].flatMap(([, alias, path]) =>
    [...code.matchAll(new RegExp(`\\b${alias}\\.(\\w+)`, "g"))].map((found): [string, string] => [
      join(dirname(file), path!),
      found[1]!,
    ]),
  );
}

describe("styles", () => {
  const used = sources.flatMap(usedIn);

  it("defines every class that a component uses", () => {
    for (const [module, name] of used)
      expect(definedIn(module).has(name), `${relative(panel, module)} has no .${name}`).toBe(true);
  });

  it.each(modules.map((module) => relative(panel, module)))("%s has no class that nothing uses", (name) => {
    const module = join(panel, name);
    const names = new Set(used.filter(([path]) => path === module).map((one) => one[1]));
    // A line of a diff picks its class by its kind.
    for (const kind of ["added", "removed", "none"]) names.add(kind);
    expect([...definedIn(module)].filter((one) => !names.has(one))).toEqual([]);
  });

  it("names classes in CSS modules only", () => {
    for (const file of sources) expect(readFileSync(file, "utf8"), file).not.toMatch(/className="/);
  });

  it("keeps colours in the theme", () => {
    for (const module of modules) expect(readFileSync(module, "utf8"), module).not.toMatch(/#[0-9a-f]{3,8}\b/i);
  });
});
