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

/** Files of the workspace, by the tool that the agents use as well. */
export async function findFiles(service: BrainService, pattern: string, signal?: AbortSignal): Promise<string[]> {
  const { results } = await service.batch({ calls: [{ tool: "find_files", args: { pattern } }] }, signal);
  return list(results[0], "paths").filter((path) => typeof path === "string");
}

export async function findSymbols(service: BrainService, query: string, signal?: AbortSignal): Promise<FoundSymbol[]> {
  const { results } = await service.batch({ calls: [{ tool: "find_symbols", args: { query } }] }, signal);
  return list(results[0], "symbols").map((symbol) => {
    const { path, name, kind, line } = record(symbol);
    return { path: String(path), name: String(name), kind: String(kind), line: Number(line) };
  });
}

export interface Entry {
  readonly path: string;
  readonly folder: boolean;
}

/** What a folder of the workspace has, without what programs leave behind; nothing if there is no such folder. */
export async function listFolder(service: BrainService, path: string, signal?: AbortSignal): Promise<Entry[]> {
  const { results } = await service.batch({ calls: [{ tool: "list_directory", args: { path } }] }, signal);
  const entries = list(results[0], "entries").map((entry) => {
    const { path, kind } = record(entry);
    return { path: String(path), folder: kind === "directory" };
  });
  return entries.filter(({ path }) => !LEFT_BEHIND.test(path));
}

const LEFT_BEHIND = /(?:^|\/)(?:\.git|__pycache__|node_modules)$/;
