import { useEffect, useState } from "react";
import { type BrainService, ProblemError, type Thread } from "../../client/index.ts";

/** How long a task may be silent before the panel asks whether the sidecar can write. */
const SILENT_MS = 5_000;

/** Why a task at work is silent, such as a full disk: an event could not say it. */
export function useStall(service: BrainService, { status, lastSeq }: Thread): string | undefined {
  const [stall, setStall] = useState<string>();
  const working = status === "queued" || status === "running" || status === "cancelling";
  // biome-ignore lint/correctness/useExhaustiveDependencies: an event shows that the journal is written again
  useEffect(() => {
    setStall(undefined);
    if (!working) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const ask = async () => {
      const reason = await service.ready(stop.signal).then(() => undefined, refusalOf);
      if (stop.signal.aborted) return;
      setStall(reason);
      timer = setTimeout(ask, SILENT_MS);
    };
    timer = setTimeout(ask, SILENT_MS);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [service, working, lastSeq]);
  return stall;
}

const refusalOf = (error: unknown): string | undefined =>
  error instanceof ProblemError && error.status === 503 ? error.message : undefined;
