import { Icon, Spinner } from "../../../shared/icons.tsx";
import styles from "../settings.module.css";
import type { Result } from "./useAction.ts";

interface Props {
  readonly busy: boolean;
  /** Shown while the action runs. */
  readonly progress: string;
  readonly result: Result | undefined;
}

export const ActionResult = ({ busy, progress, result }: Props) => (
  <p className={styles.outcome} data-tone={result && !busy ? (result.ok ? "good" : "bad") : undefined} role="status">
    {busy ? (
      <>
        <Spinner /> {progress}
      </>
    ) : (
      result && (
        <>
          <Icon name={result.ok ? "check" : "alert"} /> {result.text}
        </>
      )
    )}
  </p>
);
