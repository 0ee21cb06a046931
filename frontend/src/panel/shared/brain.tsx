import { createContext, type ReactNode, useContext } from "react";
import type { BrainService } from "../../client/index.ts";

const Brain = createContext<BrainService | undefined>(undefined);

export const BrainProvider = ({ service, children }: { service: BrainService; children: ReactNode }) => (
  <Brain value={service}>{children}</Brain>
);

export function useBrain(): BrainService {
  const service = useContext(Brain);
  if (service === undefined) throw new Error("The panel was drawn outside of its BrainProvider.");
  return service;
}
