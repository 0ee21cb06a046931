import type { Thread } from "../../client/index.ts";
import type { JsonValue } from "../../wire/types.ts";
import { duration, plural } from "../shared/format.ts";
import { Icon } from "../shared/icons.tsx";
import { revealHidden } from "../shared/text.ts";
import styles from "./Conversation.module.css";

/** How a completed task ended, on one line, with the reason if its changes are not verified. */
export function Ending({ thread }: { thread: Thread }) {
  if (thread.status !== "completed") return null;
  const files = thread.result?.filesModified.length ?? 0;
  const { verification } = thread;
  const reasons = verification === undefined ? unverifiedReasons(thread.result?.verification, files > 0) : undefined;
  return (
    <>
      <p className={styles.ending}>
        <Icon name="check" /> Done in {duration(thread.workedMs)}
        {files > 0 && ` · ${plural(files, "file")} changed`}
        {verification &&
          (verification.passed ? ` · verified by ${plural(verification.checks.length, "check")}` : " · checks failed")}
        {reasons && " · not verified"}
      </p>
      {reasons?.map((reason) => (
        <p key={reason} className={`${styles.ending} ${styles.reason}`}>
          {revealHidden(reason)}
        </p>
      ))}
    </>
  );
}

/** Why no check ran for a change; undefined if there was no change, or a check ran. */
export function unverifiedReasons(
  verification: JsonValue | undefined,
  changed: boolean = true,
): readonly string[] | undefined {
  if (verification === null || typeof verification !== "object" || Array.isArray(verification)) return undefined;
  if (verification["passed"] !== null) return undefined;
  const notes = verification["notes"];
  const reasons = Array.isArray(notes) ? notes.filter((note) => typeof note === "string") : [];
  if (reasons.length > 0) return reasons;
  return changed ? ["No check applies to this change."] : undefined;
}
