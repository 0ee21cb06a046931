import type { BrainService } from "../../client/index.ts";
import type { AgentInfo, ModelList } from "../../wire/types.ts";
import { merge, Store, useStore } from "./store.ts";

/** The models and agents that the sidecar offers. */
interface Catalog {
  readonly models: ModelList | undefined;
  readonly agents: readonly AgentInfo[];
}

const store = new Store<Catalog, Partial<Catalog>>({ models: undefined, agents: [] }, merge);

export const useModels = (): ModelList | undefined => useStore(store).models;
export const useAgents = (): readonly AgentInfo[] => useStore(store).agents;
export const allAgents = (): readonly AgentInfo[] => store.get().agents;

export const loadModels = (service: BrainService, signal?: AbortSignal): Promise<void> =>
  service.models(signal).then(
    (models) => store.dispatch({ models }),
    () => {},
  );

export const loadAgents = (service: BrainService, signal?: AbortSignal): Promise<void> =>
  service.agents(signal).then(
    ({ agents }) => store.dispatch({ agents }),
    () => {},
  );

/** The model that writes code as configured. */
export const defaultModel = (list: ModelList | undefined): string | undefined =>
  list?.roles.find((role) => role.role === "smart")?.chain[0];

/** True once the list is known and holds no language model. */
export const isOffline = (list: ModelList | undefined): boolean =>
  list?.roles.every((role) => role.chain.every((name) => name.startsWith("offline/"))) ?? false;
