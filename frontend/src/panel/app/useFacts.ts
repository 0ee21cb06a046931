import { useEffect, useState } from "react";
import type { BrainService } from "../../client/index.ts";
import type { StatusAnswer } from "../../wire/types.ts";
import { lookAtAgents } from "../shared/agents.ts";
import { lookAtModels } from "../shared/models.ts";

/** What the sidecar says about itself; asked again when it has come back. */
export function useFacts(service: BrainService, reachable: boolean): StatusAnswer | undefined {
  const [status, setStatus] = useState<StatusAnswer>();
  useEffect(() => {
    if (!reachable) return;
    const stop = new AbortController();
    service.status(stop.signal).then(setStatus, () => {});
    void lookAtModels(service, stop.signal);
    void lookAtAgents(service, stop.signal);
    return () => stop.abort();
  }, [service, reachable]);
  return status;
}
