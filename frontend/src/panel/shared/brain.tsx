import { createContext, type ReactNode, useContext } from "react";
import type { BrainService, WatchRegistry } from "../../client/index.ts";

const Brain = createContext<WatchRegistry | undefined>(undefined);

export const BrainProvider = ({ registry, children }: { registry: WatchRegistry; children: ReactNode }) => (
  <Brain value={registry}>{children}</Brain>
);

/** Which tasks the panel follows. */
export function useRegistry(): WatchRegistry {
  const registry = useContext(Brain);
  if (registry === undefined) throw new Error("The panel needs a BrainProvider around it.");
  return registry;
}

export const useBrain = (): BrainService => useRegistry().service;
