import { Icon, Spinner } from "../../../shared/icons.tsx";
import type { Told } from "./useAct.ts";

interface Props {
  readonly busy: boolean;
  readonly doing: string;
  readonly told: Told | undefined;
}

/** What is being tried, then what came of it. */
export const Outcome = ({ busy, doing, told }: Props) => (
  <p className={`outcome ${told && !busy ? (told.ok ? "outcome-good" : "outcome-bad") : ""}`} role="status">
    {busy ? (
      <>
        <Spinner /> {doing}
      </>
    ) : (
      told && (
        <>
          <Icon name={told.ok ? "check" : "alert"} /> {told.text}
        </>
      )
    )}
  </p>
);
