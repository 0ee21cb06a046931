import { useEffect } from "react";
import { useBrain } from "../../../shared/brain.tsx";
import { OfflineNotice } from "../../../shared/offline-notice.tsx";
import { isOffline, loadModels, useModels } from "../../../stores/catalog.ts";
import styles from "../settings.module.css";
import { Keys } from "./Keys.tsx";
import { LocalServers } from "./LocalServers.tsx";
import { Roles } from "./Roles.tsx";

/** Sets up a language model: a local server, or a provider's key. */
export function ModelsPage() {
  const service = useBrain();
  const models = useModels();
  useEffect(() => void loadModels(service), [service]);
  return (
    <>
      {isOffline(models) && (
        <div className={styles.offline}>
          <OfflineNotice />
        </div>
      )}
      <LocalServers />
      <Keys />
      <Roles models={models} />
    </>
  );
}
