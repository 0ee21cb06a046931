import { useCallback, useEffect, useState } from "react";
import { isMissingRoute, type Thread } from "../../../client/index.ts";
import type { FileDiff } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";

export interface Review {
  /** Undefined until the first answer, and for a sidecar without this route. */
  readonly files: readonly FileDiff[] | undefined;
  readonly missing: boolean;
  readonly reload: () => void;
}

/** The task's changes so far; loaded again after every edit. */
export function useDiff(thread: Thread): Review {
  const service = useBrain();
  const { taskId, edits, status } = thread;
  const [files, setFiles] = useState<readonly FileDiff[]>();
  const [missing, setMissing] = useState(false);
  const [reloads, setReloads] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: loads again after each edit, rewind and change of status
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
  }, [service, taskId, edits.length, thread.rewinds.length, status, reloads, missing]);
  return { files, missing, reload: useCallback(() => setReloads((before) => before + 1), []) };
}
