import { useCallback, useEffect, useState } from "react";
import { isMissingRoute, type Thread } from "../../../client/index.ts";
import type { FileDiff } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";

export interface Review {
  /** Undefined until the first answer, and where the sidecar cannot tell. */
  readonly files: readonly FileDiff[] | undefined;
  readonly missing: boolean;
  readonly look: () => void;
}

/** What the task has changed so far: asked for again whenever it says that it changed something. */
export function useDiff(thread: Thread): Review {
  const service = useBrain();
  const { taskId, edits, status } = thread;
  const [files, setFiles] = useState<readonly FileDiff[]>();
  const [missing, setMissing] = useState(false);
  const [again, setAgain] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at again after each edit, rewind and change of state
  useEffect(() => {
    if (missing) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      service.diff(taskId, stop.signal).then(
        (answer) => setFiles(answer.files),
        (error: unknown) => {
          if (isMissingRoute(error)) setMissing(true);
        },
      );
    }, 150);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [service, taskId, edits.length, thread.rewinds.length, status, again, missing]);
  return { files, missing, look: useCallback(() => setAgain((before) => before + 1), []) };
}
