import type { BrainService } from "../../client/index.ts";
import type { AgentInfo } from "../../wire/types.ts";
import { Store, useStore } from "./store.ts";

/** Who there is to do something: the sidecar's agents, and the person's own. */
const agents = new Store<readonly AgentInfo[]>([]);

export const useAgents = (): readonly AgentInfo[] => useStore(agents);
export const allAgents = agents.get;

export const lookAtAgents = (service: BrainService, signal?: AbortSignal): Promise<void> =>
  service.agents(signal).then(
    (answer) => agents.set(answer.agents),
    () => {},
  );
