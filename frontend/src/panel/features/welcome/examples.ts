import { useEffect, useState } from "react";
import type { BrainService } from "../../../client/index.ts";
import type { JsonValue } from "../../../wire/types.ts";
import type { IconName } from "../../shared/icons.tsx";

export interface Example {
  readonly icon: IconName;
  readonly text: string;
  readonly hint: string;
}

const EXPLAIN: Example = {
  icon: "file",
  text: "explain this project",
  hint: "Its parts and entry points",
};
const TESTS: Example = { icon: "check", text: "run the tests", hint: "Finds the test framework and runs it" };
const REVIEW: Example = { icon: "edit", text: "review my changes", hint: "Everything since the last commit" };
const SEARCH: Example = { icon: "search", text: "search for TODO", hint: "Every match, with its line" };
const FILES: Example = { icon: "menu", text: "list the files", hint: "The contents of this workspace" };
const SCAFFOLD: readonly Example[] = [
  { icon: "add", text: "create a Python package called hello", hint: "With tests, ready to run" },
  { icon: "terminal", text: "create a Python CLI called greet", hint: "A terminal program, with tests" },
  { icon: "file", text: "create a static website called site", hint: "A page, a style sheet and a check" },
];

interface Workspace {
  readonly files: number;
  readonly tests: boolean;
  readonly changed: boolean;
}

/** Three tasks that work in this workspace without a language model. */
export function examplesFor({ files, tests, changed }: Workspace): readonly Example[] {
  if (files === 0) return SCAFFOLD;
  return [EXPLAIN, ...(tests ? [TESTS] : []), ...(changed ? [REVIEW] : []), SEARCH, FILES].slice(0, 3);
}

/** Chooses the examples by what the workspace contains; empty until that is known. */
export function useExamples(service: BrainService): readonly Example[] {
  const [found, setFound] = useState<Workspace>();
  useEffect(() => {
    const stop = new AbortController();
    const calls = ["get_workspace_info", "git_status"].map((tool) => ({ tool, args: {} }));
    service.batch({ calls, parallel: true }, stop.signal).then(
      ({ results }) => {
        const [info, status] = results.map((result) => record(result.details));
        setFound({
          files: Number(info?.["files"] ?? 1),
          tests: typeof info?.["tests"] === "string",
          changed: Array.isArray(status?.["changes"]) && status["changes"].length > 0,
        });
      },
      () => stop.signal.aborted || setFound({ files: 1, tests: false, changed: false }),
    );
    return () => stop.abort();
  }, [service]);
  return found === undefined ? [] : examplesFor(found);
}

const record = (value: JsonValue | undefined): { [key: string]: JsonValue } =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
