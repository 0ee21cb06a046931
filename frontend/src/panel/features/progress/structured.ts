import type { JsonValue } from "../../../wire/types.ts";

type Json = { readonly [key: string]: JsonValue };

export interface PlannedStep {
  readonly title: string;
  readonly files: readonly string[];
}

export interface Finding {
  readonly severity: string;
  readonly where: string;
  readonly message: string;
  readonly fix: string;
}

/** What an agent said to the other agents rather than to a person: a plan, or a verdict on a change. */
export type Structured =
  | { readonly kind: "plan"; readonly words: string; readonly steps: readonly PlannedStep[] }
  | {
      readonly kind: "verdict";
      readonly words: string;
      readonly passed: boolean;
      readonly summary: string;
      readonly findings: readonly Finding[];
    };

/** Undefined where it is prose, or JSON of another kind: then it is shown as it was written. */
export function structured(agent: string, text: string): Structured | undefined {
  if (agent !== "planner" && agent !== "reviewer") return undefined;
  const found = objectIn(text);
  if (found === undefined) return undefined;
  const words = text
    .slice(0, found.start)
    .replace(/```\w*\s*$/, "")
    .trim();
  if (agent === "planner") {
    const steps = list(found.json["steps"]).flatMap((step) => {
      const title = first(step, "title", "description", "task", "name", "step");
      return title ? [{ title, files: list(record(step)["files"]).map(String) }] : [];
    });
    return steps.length > 0 ? { kind: "plan", words, steps } : undefined;
  }
  const { passed, summary, issues } = found.json;
  if (typeof passed !== "boolean") return undefined;
  const findings = list(issues).map((issue) => ({
    severity: first(issue, "severity") || "warning",
    where: [first(issue, "file", "path"), first(issue, "line")].filter(Boolean).join(":"),
    message: first(issue, "message", "problem", "issue", "description", "title"),
    fix: first(issue, "fix", "suggestion"),
  }));
  return { kind: "verdict", words, passed, summary: typeof summary === "string" ? summary : "", findings };
}

/** A message of which only the beginning is there, and that will be no prose. */
export const willBeStructured = (agent: string, text: string): boolean =>
  (agent === "planner" || agent === "reviewer") && /^\s*(\{|```)/.test(text);

/** The object from its first brace to the last one that closes it. */
function objectIn(text: string): { readonly start: number; readonly json: Json } | undefined {
  const start = text.indexOf("{");
  for (let end = text.lastIndexOf("}"), tries = 0; start >= 0 && end > start && tries < 5; tries += 1) {
    try {
      return { start, json: record(JSON.parse(text.slice(start, end + 1)) as JsonValue) };
    } catch {
      end = text.lastIndexOf("}", end - 1);
    }
  }
  return undefined;
}

const record = (value: JsonValue | undefined): Json =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
const list = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);
const first = (value: JsonValue, ...names: string[]): string => {
  if (typeof value === "string" && names.includes("title")) return value;
  const found = names
    .map((name) => record(value)[name])
    .find((one) => typeof one === "string" || typeof one === "number");
  return found === undefined ? "" : String(found);
};
