import type { ImpactAnswer } from "../../../wire/types.ts";
import { plural } from "../../shared/format.ts";

export const isEmpty = ({ hits, imports }: ImpactAnswer): boolean => hits.length === 0 && (imports ?? []).length === 0;

/** What an answer says in a sentence: of an index that isn't whole, never that there is nothing. */
export function summary(asked: string, answer: ImpactAnswer | undefined): string {
  if (asked === "" || answer === undefined) return "Name a file, or a function, class or constant.";
  const whole = answer.state === "ready";
  if (whole && isEmpty(answer))
    return `Nothing in the index imports ${asked}, and it imports nothing of this workspace.`;
  const imports = answer.imports === undefined ? "" : `Imports ${plural(answer.imports.length, "file")}. `;
  const found = isEmpty(answer) ? "" : `${imports}${plural(answer.hits.length, "file")} may break if it changes. `;
  return whole ? found.trimEnd() : `${found}The index is still being built: there may be more. Ask again later.`;
}
