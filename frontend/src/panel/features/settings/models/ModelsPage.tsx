import { useEffect } from "react";
import { useBrain } from "../../../shared/brain.tsx";
import { isOffline, lookAtModels, useModels } from "../../../shared/models.ts";
import { OfflineWords } from "../../../shared/offline.tsx";
import { Keys } from "./Keys.tsx";
import { LocalServers } from "./LocalServers.tsx";
import { Roles } from "./Roles.tsx";

/** From nothing to a language model: a server that is found and used, or a key that is pasted and tried. */
export function ModelsPage() {
  const service = useBrain();
  const models = useModels();
  useEffect(() => void lookAtModels(service), [service]);
  return (
    <>
      {isOffline(models) && <OfflineWords />}
      <LocalServers />
      <Keys models={models} />
      <Roles models={models} />
    </>
  );
}
