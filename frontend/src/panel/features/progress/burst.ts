import type { ToolItem } from "../../../client/index.ts";
import { plural } from "../../shared/format.ts";

type Kind = "read" | "search" | "test" | "command" | "git" | "plan" | "other";

const KINDS: Record<string, Kind> = {
  read_file: "read",
  read_files: "read",
  list_dir: "read",
  list_directory: "read",
  read_directory_tree: "read",
  analyze_code: "read",
  get_workspace_info: "read",
  get_diagnostics: "read",
  describe_file: "read",
  describe_project: "read",
  find_commands: "read",
  search_code: "search",
  find_files: "search",
  find_symbols: "search",
  find_usages: "search",
  describe_symbol: "search",
  find_code: "search",
  similar: "search",
  tests_of: "search",
  impact: "search",
  recall: "search",
  run_tests: "test",
  run_command: "command",
  command_output: "command",
  stop_command: "command",
  git_status: "git",
  git_diff: "git",
  git_log: "git",
  git_show: "git",
  git_blame: "git",
  todo: "plan",
};

const times = (count: number): string => (count === 1 ? "" : count === 2 ? " twice" : ` ${count} times`);

const SENTENCES: Record<Kind, (calls: readonly ToolItem[]) => string> = {
  read: (calls) => {
    const files = new Set(calls.flatMap(pathsOf));
    return files.size > 0 ? `explored ${plural(files.size, "file")}` : "explored the workspace";
  },
  search: (calls) => `searched${times(calls.length)}`,
  test: (calls) => `ran the tests${times(calls.length)}`,
  command: (calls) => `ran ${plural(calls.length, "command")}`,
  git: () => "looked at Git",
  plan: () => "updated the plan",
  other: (calls) =>
    `used ${[...new Set(calls.map(({ tool }) => tool))].slice(0, 3).join(", ")}${times(calls.length > 3 ? calls.length : 1)}`,
};

function pathsOf({ args }: ToolItem): string[] {
  const { path, paths } = args;
  if (Array.isArray(paths)) return paths.map(String);
  return typeof path === "string" && path !== "." && path !== "" ? [path] : [];
}

/** What some calls did, in one line: “Explored 4 files, ran the tests”. */
export function describeBurst(items: readonly ToolItem[]): string {
  const groups = new Map<Kind, ToolItem[]>();
  for (const item of items) {
    const kind = KINDS[item.tool] ?? "other";
    groups.set(kind, [...(groups.get(kind) ?? []), item]);
  }
  const text = [...groups].map(([kind, calls]) => SENTENCES[kind](calls)).join(", ");
  return text[0]!.toUpperCase() + text.slice(1);
}
