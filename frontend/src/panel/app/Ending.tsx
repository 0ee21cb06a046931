import { hasEnded, type Thread } from "../../client/index.ts";
import { Icon } from "../shared/icons.tsx";
import { duration, plural } from "../shared/words.ts";

/** How it ended, on one line. */
export function Ending({ thread }: { thread: Thread }) {
  if (!hasEnded(thread.status) || thread.status !== "completed") return null;
  const files = thread.result?.filesModified.length ?? 0;
  const { verification } = thread;
  return (
    <p className="ending">
      <Icon name="check" /> Done in {duration(thread.workedMs)}
      {files > 0 && ` · ${plural(files, "file")} changed`}
      {verification &&
        (verification.passed ? ` · verified by ${plural(verification.checks.length, "check")}` : " · not verified")}
    </p>
  );
}
