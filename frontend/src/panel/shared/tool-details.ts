import type { JsonValue } from "../../wire/types.ts";

export const record = (value: JsonValue | undefined): { [key: string]: JsonValue } =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};

/** The output of a finished call, from its details. */
export function recordedOutput(details: JsonValue | undefined): string | undefined {
  const { output, content, stdout } = record(details);
  for (const found of [output, content, stdout]) if (typeof found === "string" && found !== "") return found;
  return undefined;
}

export function recordedDiff(details: JsonValue | undefined): string | undefined {
  const { diff, files } = record(details);
  if (typeof diff === "string" && diff) return diff;
  const first = Array.isArray(files)
    ? files.map((file) => record(file)["diff"]).filter((one) => typeof one === "string")
    : [];
  return first.length > 0 ? first.join("\n") : undefined;
}

/** The diff of a call that changed files; what Git showed is no change. */
export const editDiff = ({
  tool,
  details,
}: {
  readonly tool: string;
  readonly details?: JsonValue;
}): string | undefined => (tool.startsWith("git_") || isPreview(details) ? undefined : recordedDiff(details));

/** Shows what a call would change. */
const isPreview = (details: JsonValue | undefined): boolean =>
  details !== null && typeof details === "object" && !Array.isArray(details) && details["preview"] === true;
