import type { Check } from "../../../wire/types.ts";
import { duration } from "../../shared/format.ts";
import { Icon } from "../../shared/icons.tsx";
import { stripAnsi } from "../../shared/text.ts";
import styles from "./NoteRow.module.css";

/** The checks that ran, with their output; that of a failed check is open. */
export const Checks = ({ checks }: { checks: readonly Check[] }) => (
  <ul className={styles.checks} aria-label="Checks">
    {checks.map((check) => (
      <li key={`${check.name} ${check.command}`} className={styles.check} data-failed={!check.passed || undefined}>
        <details open={!check.passed}>
          <summary>
            <Icon name={check.passed ? "check" : "close"} />
            <span>{check.name}</span>
            <code>{check.command}</code>
            <span className={styles.time}>{describeResult(check)}</span>
          </summary>
          {check.evidence && (
            <pre tabIndex={0} role="group" aria-label={`Output of ${check.name}`}>
              {lines(check)}
            </pre>
          )}
        </details>
      </li>
    ))}
  </ul>
);

function describeResult({ command, exitCode, durationMs }: Check): string {
  if (command === "") return "inspected";
  return `${exitCode === null ? "did not finish" : `exit code ${exitCode}`} · ${duration(durationMs)}`;
}

/** Lines with which test frameworks and compilers report an error. */
const ERROR_LINE =
  /^(E\s|FAIL|FAILED|ERROR|error|\s*×|\s*✗|not ok|---? FAIL)|\b(AssertionError|\w*Error:|error:|panicked at)/;

const lines = ({ evidence, passed }: Check) =>
  stripAnsi(evidence)
    .split("\n")
    .map((line, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key than their place
      <span key={place} className={!passed && ERROR_LINE.test(line) ? styles.failure : undefined}>
        {line}
        {"\n"}
      </span>
    ));
