import { useEffect, useState } from "react";
import type { BrainService } from "../../client/index.ts";
import type { AgentList, ModelList, StatusAnswer } from "../../wire/types.ts";

export interface Facts {
  readonly status: StatusAnswer | undefined;
  readonly models: ModelList | undefined;
  readonly agents: AgentList | undefined;
}

/** What the sidecar says about itself; asked again when it has come back. */
export function useFacts(service: BrainService, reachable: boolean): Facts {
  const [facts, setFacts] = useState<Facts>({ status: undefined, models: undefined, agents: undefined });
  useEffect(() => {
    if (!reachable) return;
    const stop = new AbortController();
    const take = (more: Partial<Facts>) => setFacts((before) => ({ ...before, ...more }));
    service.status(stop.signal).then(
      (status) => take({ status }),
      () => {},
    );
    service.models(stop.signal).then(
      (models) => take({ models }),
      () => {},
    );
    service.agents(stop.signal).then(
      (agents) => take({ agents }),
      () => {},
    );
    return () => stop.abort();
  }, [service, reachable]);
  return facts;
}
