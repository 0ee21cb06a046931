import { useState } from "react";
import { BrainError } from "../../../../client/index.ts";

export interface Told {
  readonly ok: boolean;
  readonly text: string;
}

interface Act {
  readonly busy: boolean;
  /** What came of it, in words. */
  readonly told: Told | undefined;
  readonly run: (act: () => Promise<Told | undefined>) => Promise<void>;
}

/** One thing at a time, and what came of it, beside the button that did it. */
export function useAct(): Act {
  const [busy, setBusy] = useState(false);
  const [told, setTold] = useState<Told>();
  const run = async (act: () => Promise<Told | undefined>) => {
    setBusy(true);
    setTold(undefined);
    try {
      setTold(await act());
    } catch (error) {
      setTold({ ok: false, text: error instanceof BrainError ? error.message : String(error) });
    }
    setBusy(false);
  };
  return { busy, told, run };
}
