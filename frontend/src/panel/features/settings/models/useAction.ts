import { useState } from "react";
import { BrainError } from "../../../../client/index.ts";

export interface Result {
  readonly ok: boolean;
  readonly text: string;
}

interface Action {
  readonly busy: boolean;
  readonly result: Result | undefined;
  readonly run: (act: () => Promise<Result>) => Promise<void>;
}

/** Runs one action at a time and keeps its result, to show beside its button. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<Result>();
  const run = async (act: () => Promise<Result>) => {
    setBusy(true);
    setResult(undefined);
    try {
      setResult(await act());
    } catch (error) {
      setResult({ ok: false, text: error instanceof BrainError ? error.message : String(error) });
    }
    setBusy(false);
  };
  return { busy, result, run };
}
