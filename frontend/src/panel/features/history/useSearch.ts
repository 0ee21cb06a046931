import { useEffect, useState } from "react";
import type { Task } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { showError } from "../../stores/toasts.ts";

const PAUSE_MS = 150;

/** What the sidecar finds for some words, in all tasks; until its answer, what it found before. */
export function useSearch(words: string, archived: boolean): readonly Task[] | undefined {
  const service = useBrain();
  const [found, setFound] = useState<readonly Task[]>();
  useEffect(() => {
    if (words === "" && !archived) return setFound(undefined);
    const stop = new AbortController();
    const timer = setTimeout(() => {
      service.tasks({ q: words, archived, limit: 100 }, stop.signal).then(
        ({ tasks }) => setFound(archived ? tasks.filter((task) => task.archived) : tasks),
        (error: unknown) => stop.signal.aborted || showError(error),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [service, words, archived]);
  return found;
}
