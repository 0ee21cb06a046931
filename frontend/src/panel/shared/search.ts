import type { BrainService } from "../../client/index.ts";
import type { JsonValue, ToolAnswer } from "../../wire/types.ts";

export interface FoundSymbol {
  readonly path: string;
  readonly name: string;
  readonly kind: string;
  readonly line: number;
}

const record = (value: JsonValue | undefined): { [key: string]: JsonValue } =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};

const list = (answer: ToolAnswer | undefined, name: string): JsonValue[] => {
  const found = record(answer?.details)[name];
  return Array.isArray(found) ? found : [];
};

/** Where to search: the workspace of a task, else the sidecar's own. */
export interface Place {
  readonly service: BrainService;
  readonly workspace?: string | undefined;
}

/** Runs a read-only tool without a model. */
export async function runTool(
  { service, workspace }: Place,
  tool: string,
  args: { [name: string]: JsonValue },
  signal?: AbortSignal,
): Promise<ToolAnswer | undefined> {
  const { results } = await service.batch({ workspace: workspace ?? null, calls: [{ tool, args }] }, signal);
  return results[0];
}

export async function findFiles(place: Place, pattern: string, signal?: AbortSignal): Promise<string[]> {
  return list(await runTool(place, "find_files", { pattern }, signal), "paths").filter(
    (path) => typeof path === "string",
  );
}

export async function findSymbols(place: Place, query: string, signal?: AbortSignal): Promise<FoundSymbol[]> {
  return list(await runTool(place, "find_symbols", { query }, signal), "symbols").map((symbol) => {
    const { path, name, kind, line } = record(symbol);
    return { path: String(path), name: String(name), kind: String(kind), line: Number(line) };
  });
}

export interface Entry {
  readonly path: string;
  readonly folder: boolean;
}

/** The entries of a folder, without generated ones; empty if there is no such folder. */
export async function listFolder(place: Place, path: string, signal?: AbortSignal): Promise<Entry[]> {
  const entries = list(await runTool(place, "list_directory", { path }, signal), "entries").map((entry) => {
    const { path, kind, generated } = record(entry);
    return { path: String(path), folder: kind === "directory", generated: generated === true };
  });
  return entries.filter(({ generated }) => !generated);
}

export interface ReadLines {
  readonly first: number;
  readonly lines: readonly string[];
}

/** Some lines of a file, as they are now. Fails with the tool's own words. */
export async function readLines(
  place: Place,
  path: string,
  [startLine, endLine]: readonly [number, number],
  signal?: AbortSignal,
): Promise<ReadLines> {
  const answer = await runTool(place, "read_file", { path, startLine, endLine }, signal);
  if (answer?.status !== "success") throw new Error(answer?.error?.message ?? `${path} can't be read.`);
  const { startLine: first, endLine: last } = record(answer.details);
  const lines = answer.content.split("\n").slice(0, Number(last) - Number(first) + 1);
  // The tool numbers its lines.
  return { first: Number(first), lines: lines.map((line) => line.replace(/^ *\d+ /, "")) };
}
