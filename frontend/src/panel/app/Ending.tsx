import { hasEnded, type Thread } from "../../client/index.ts";
import type { JsonValue } from "../../wire/types.ts";
import { Icon } from "../shared/icons.tsx";
import { visible } from "../shared/visible.ts";
import { duration, plural } from "../shared/words.ts";

/** How it ended, on one line; and why nothing is known of a change: nobody should take silence for proof. */
export function Ending({ thread }: { thread: Thread }) {
  if (!hasEnded(thread.status) || thread.status !== "completed") return null;
  const files = thread.result?.filesModified.length ?? 0;
  const { verification } = thread;
  const unproven = verification === undefined ? unprovenBecause(thread.result?.verification) : undefined;
  return (
    <>
      <p className="ending">
        <Icon name="check" /> Done in {duration(thread.workedMs)}
        {files > 0 && ` · ${plural(files, "file")} changed`}
        {verification &&
          (verification.passed ? ` · verified by ${plural(verification.checks.length, "check")}` : " · not verified")}
        {unproven && " · neither verified nor refuted"}
      </p>
      {unproven?.map((note) => (
        <p key={note} className="ending ending-note">
          {visible(note)}
        </p>
      ))}
    </>
  );
}

/** What a result says of a change that nothing was run for; nothing where there was something to go by. */
export function unprovenBecause(verification: JsonValue | undefined): readonly string[] | undefined {
  if (verification === null || typeof verification !== "object" || Array.isArray(verification)) return undefined;
  if (verification["passed"] !== null) return undefined;
  const notes = verification["notes"];
  const told = Array.isArray(notes) ? notes.filter((note) => typeof note === "string") : [];
  return told.length > 0 ? told : ["There was nothing to run that could tell whether it works."];
}
