import { useEffect, useState } from "react";
import type { BrainService } from "../../client/index.ts";
import type { StatusAnswer } from "../../wire/types.ts";
import { loadAgents, loadModels } from "../stores/catalog.ts";

/** The sidecar's status; loaded again, with its models and agents, when it is back after a lost connection. */
export function useStatus(service: BrainService, reachable: boolean): StatusAnswer | undefined {
  const [status, setStatus] = useState<StatusAnswer>();
  useEffect(() => {
    if (!reachable) return;
    const stop = new AbortController();
    service.status(stop.signal).then(setStatus, () => {});
    void loadModels(service, stop.signal);
    void loadAgents(service, stop.signal);
    return () => stop.abort();
  }, [service, reachable]);
  return status;
}
