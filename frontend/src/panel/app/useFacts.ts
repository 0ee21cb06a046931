import { useEffect, useState } from "react";
import type { BrainService } from "../../client/index.ts";
import type { AgentList, StatusAnswer } from "../../wire/types.ts";
import { lookAtModels } from "../shared/models.ts";

export interface Facts {
  readonly status: StatusAnswer | undefined;
  readonly agents: AgentList | undefined;
}

/** What the sidecar says about itself; asked again when it has come back. */
export function useFacts(service: BrainService, reachable: boolean): Facts {
  const [facts, setFacts] = useState<Facts>({ status: undefined, agents: undefined });
  useEffect(() => {
    if (!reachable) return;
    const stop = new AbortController();
    const take = (more: Partial<Facts>) => setFacts((before) => ({ ...before, ...more }));
    service.status(stop.signal).then(
      (status) => take({ status }),
      () => {},
    );
    void lookAtModels(service, stop.signal);
    service.agents(stop.signal).then(
      (agents) => take({ agents }),
      () => {},
    );
    return () => stop.abort();
  }, [service, reachable]);
  return facts;
}
