import type { Check } from "../../../wire/types.ts";
import { Icon } from "../../shared/icons.tsx";
import { plain } from "../../shared/visible.ts";
import { duration } from "../../shared/words.ts";

/** What was run to prove the work, and what it said; of what failed, at once. */
export const Checks = ({ checks }: { checks: readonly Check[] }) => (
  <ul className="checks" aria-label="Checks">
    {checks.map((check) => (
      <li key={`${check.name} ${check.command}`} className={check.passed ? "check-passed" : "check-failed"}>
        <details open={!check.passed}>
          <summary>
            <Icon name={check.passed ? "check" : "close"} />
            <span className="check-name">{check.name}</span>
            <code>{check.command}</code>
            <span className="tool-time">{came(check)}</span>
          </summary>
          {check.evidence && (
            <pre tabIndex={0} role="group" aria-label={`What ${check.name} said`}>
              {lines(check)}
            </pre>
          )}
        </details>
      </li>
    ))}
  </ul>
);

function came({ command, exitCode, durationMs }: Check): string {
  if (command === "") return "looked at";
  return `${exitCode === null ? "did not end" : `exit code ${exitCode}`} · ${duration(durationMs)}`;
}

/** Lines in which a test framework or a compiler says what is wrong. */
const WRONG =
  /^(E\s|FAIL|FAILED|ERROR|error|\s*×|\s*✗|not ok|---? FAIL)|\b(AssertionError|\w*Error:|error:|panicked at)/;

const lines = ({ evidence, passed }: Check) =>
  plain(evidence)
    .split("\n")
    .map((line, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name than their place
      <span key={place} className={!passed && WRONG.test(line) ? "check-wrong" : undefined}>
        {line}
        {"\n"}
      </span>
    ));
