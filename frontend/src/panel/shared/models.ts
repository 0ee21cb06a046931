import type { BrainService } from "../../client/index.ts";
import type { ModelList } from "../../wire/types.ts";
import { Store, useStore } from "./store.ts";

/** Which models there are and who plays which role: one answer of the sidecar for the whole panel. */
const models = new Store<ModelList | undefined>(undefined);

export const useModels = (): ModelList | undefined => useStore(models);

/** Asks again: at the beginning, when the sidecar has come back, after a key or a choice has changed. */
export const lookAtModels = (service: BrainService, signal?: AbortSignal): Promise<void> =>
  service.models(signal).then(models.set, () => {});

/** What writes the code, or whatever else nobody else is named for. */
export const usual = (list: ModelList | undefined): string | undefined =>
  list?.roles.find((role) => role.role === "smart")?.chain[0];

/** True once it is known that there is no language model at all. */
export const isOffline = (list: ModelList | undefined): boolean =>
  list?.roles.every((role) => role.chain.every((name) => name.startsWith("offline/"))) ?? false;
