import { useEffect, useState } from "react";

interface Answer<T> {
  readonly value: T | undefined;
  readonly failure: string;
  readonly loading: boolean;
}

const IDLE = { value: undefined, failure: "", loading: false } as const;

/** The answer to the latest question, asked once you pause typing. An empty question is not asked. */
export function useAnswer<T>(question: string, ask: (signal: AbortSignal) => Promise<T>, pauseMs = 180): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>(IDLE);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the question names all that `ask` depends on
  useEffect(() => {
    if (question === "") return setAnswer(IDLE);
    const stop = new AbortController();
    setAnswer((before) => ({ ...before, failure: "", loading: true }));
    const timer = setTimeout(() => {
      ask(stop.signal).then(
        (value) => setAnswer({ value, failure: "", loading: false }),
        (error: Error) => stop.signal.aborted || setAnswer({ ...IDLE, failure: error.message }),
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [question, pauseMs]);
  return answer;
}
