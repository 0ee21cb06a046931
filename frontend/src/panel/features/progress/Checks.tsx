import type { Check } from "../../../wire/types.ts";
import { Icon } from "../../shared/icons.tsx";
import { plain } from "../../shared/visible.ts";
import { duration } from "../../shared/words.ts";

/** What was run to prove the work, and what it said. */
export const Checks = ({ checks }: { checks: readonly Check[] }) => (
  <ul className="checks">
    {checks.map((check) => (
      <li key={`${check.name} ${check.command}`} className={check.passed ? "check-passed" : "check-failed"}>
        <details>
          <summary>
            <Icon name={check.passed ? "check" : "close"} />
            <span className="check-name">{check.name}</span>
            <code>{check.command}</code>
            <span className="tool-time">
              {check.exitCode === null ? "did not run" : `exit ${check.exitCode}`} · {duration(check.durationMs)}
            </span>
          </summary>
          {check.evidence && <pre>{plain(check.evidence)}</pre>}
        </details>
      </li>
    ))}
  </ul>
);
