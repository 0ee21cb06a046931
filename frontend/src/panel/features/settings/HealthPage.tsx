import { useCallback, useEffect, useState } from "react";
import type { FindingInfo, Remedy } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { CopyButton } from "../../shared/copy-button.tsx";
import { Icon, type IconName } from "../../shared/icons.tsx";
import { lookAtModels } from "../../shared/models.ts";
import { complain, say } from "../../shared/toasts.tsx";
import { plural } from "../../shared/words.ts";
import type { Page } from "./pages.ts";
import { Section } from "./Section.tsx";

const MARKS: Record<FindingInfo["state"], IconName> = { ok: "check", note: "dot", missing: "alert" };
const WORDS: Record<FindingInfo["state"], string> = { ok: "in order", note: "could be better", missing: "missing" };

/** What `brain doctor` finds, and what one click can do about it. */
export function HealthPage({ onPage }: { onPage: (page: Page) => void }) {
  const service = useBrain();
  const [findings, setFindings] = useState<readonly FindingInfo[]>();
  const [looking, setLooking] = useState(true);
  const look = useCallback(
    async (signal?: AbortSignal) => {
      setLooking(true);
      try {
        setFindings((await service.doctor(signal)).findings);
      } catch (error) {
        if (!signal?.aborted) complain(error);
      }
      if (!signal?.aborted) setLooking(false);
    },
    [service],
  );
  useEffect(() => {
    const stop = new AbortController();
    void look(stop.signal);
    return () => stop.abort();
  }, [look]);
  const mend = async ({ kind, value, baseUrl }: Remedy) => {
    if (kind === "key") return onPage("models");
    setLooking(true);
    try {
      if (kind === "trust") await service.setTrust({ workspace: value, trusted: true });
      else say((await service.chooseModel({ model: value, ...(baseUrl ? { baseUrl } : {}) })).message);
      await lookAtModels(service);
    } catch (error) {
      complain(error);
    }
    await look();
  };
  const open = findings?.filter((finding) => finding.state !== "ok") ?? [];
  const fine = findings?.filter((finding) => finding.state === "ok") ?? [];
  const again = (
    <button type="button" className="button button-plain" disabled={looking} onClick={() => void look()}>
      <Icon name="retry" /> Look again
    </button>
  );
  return (
    <>
      <Section title={headline(findings, open)} aside={again}>
        {findings === undefined && <p className="settings-note">Looking at everything that it stands on…</p>}
        <ul className="findings" aria-label="To be mended" aria-busy={looking}>
          {open.map((finding) => (
            <Found key={finding.about + finding.found} finding={finding} busy={looking} onMend={mend} />
          ))}
        </ul>
      </Section>
      {fine.length > 0 && (
        <Section title="In order">
          <ul className="findings" aria-label="In order">
            {fine.map((finding) => (
              <Found key={finding.about + finding.found} finding={finding} busy={looking} onMend={mend} />
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function headline(findings: readonly FindingInfo[] | undefined, open: readonly FindingInfo[]): string {
  if (findings === undefined) return "Looking…";
  if (open.some((finding) => finding.essential)) return "Something is missing without which nothing works";
  return open.length === 0 ? "Everything is in order" : `${plural(open.length, "thing")} could be better`;
}

interface FoundProps {
  readonly finding: FindingInfo;
  readonly busy: boolean;
  readonly onMend: (remedy: Remedy) => Promise<void> | void;
}

const Found = ({ finding, busy, onMend }: FoundProps) => (
  <li className={`finding finding-${finding.state}`}>
    <Icon name={MARKS[finding.state]} />
    <div>
      <p>
        <span className="hidden">{WORDS[finding.state]}: </span>
        {finding.about && <strong>{finding.about}</strong>} {finding.found}
      </p>
      {finding.fix && <p className="finding-fix">{withCommands(finding.fix)}</p>}
      {finding.remedies.length > 0 && (
        <div className="finding-remedies">
          {offered(finding.remedies).map((remedy) =>
            remedy.kind === "command" ? (
              <Copyable key={remedy.value} command={remedy.value} />
            ) : (
              <button
                key={remedy.kind + remedy.value}
                type="button"
                className="button"
                disabled={busy}
                onClick={() => void onMend(remedy)}
              >
                {labelOf(remedy)}
              </button>
            ),
          )}
        </div>
      )}
    </div>
  </li>
);

/** One way to the keys is enough, however many providers there are. */
const offered = (remedies: readonly Remedy[]): readonly Remedy[] => {
  const first = remedies.find((remedy) => remedy.kind === "key");
  return remedies.filter((remedy) => remedy.kind !== "key" || remedy === first);
};

function labelOf({ kind, value }: Remedy): string {
  if (kind === "trust") return "Trust this workspace";
  if (kind === "key") return "Add a key";
  return `Use ${value}`;
}

/** The commands that a sentence names, each to be copied. */
const withCommands = (text: string) =>
  text.split(/`([^`]+)`/).map((part, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have no other name than their place
    place % 2 === 0 ? part : <Copyable key={place} command={part} />,
  );

const Copyable = ({ command }: { command: string }) => (
  <span className="copyable">
    <code>{command}</code>
    <CopyButton text={command} label={`Copy ${command}`} />
  </span>
);
