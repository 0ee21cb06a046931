import { useCallback, useEffect, useState } from "react";
import type { FindingInfo, Remedy } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { CopyButton } from "../../shared/copy-button.tsx";
import { plural } from "../../shared/format.ts";
import { Icon, type IconName } from "../../shared/icons.tsx";
import ui from "../../shared/ui.module.css";
import { loadModels } from "../../stores/catalog.ts";
import { showError, showToast } from "../../stores/toasts.ts";
import type { Page } from "./pages.ts";
import { Section } from "./Section.tsx";
import styles from "./settings.module.css";

const ICONS: Record<FindingInfo["state"], IconName> = { ok: "check", note: "dot", missing: "alert" };
const LABELS: Record<FindingInfo["state"], string> = { ok: "OK", note: "could be better", missing: "missing" };

/** The findings of `brain doctor`, with one-click fixes. */
export function HealthPage({ onPage }: { onPage: (page: Page) => void }) {
  const service = useBrain();
  const [findings, setFindings] = useState<readonly FindingInfo[]>();
  const [loading, setLoading] = useState(true);
  const load = useCallback(
    async (signal?: AbortSignal) => {
      setLoading(true);
      try {
        setFindings((await service.doctor(signal)).findings);
      } catch (error) {
        if (!signal?.aborted) showError(error);
      }
      if (!signal?.aborted) setLoading(false);
    },
    [service],
  );
  useEffect(() => {
    const stop = new AbortController();
    void load(stop.signal);
    return () => stop.abort();
  }, [load]);
  const fix = async ({ kind, value, baseUrl }: Remedy) => {
    if (kind === "key") return onPage("models");
    setLoading(true);
    try {
      if (kind === "trust") await service.setTrust({ workspace: value, trusted: true });
      else showToast((await service.chooseModel({ model: value, ...(baseUrl ? { baseUrl } : {}) })).message);
      await loadModels(service);
    } catch (error) {
      showError(error);
    }
    await load();
  };
  const open = findings?.filter((finding) => finding.state !== "ok") ?? [];
  const ok = findings?.filter((finding) => finding.state === "ok") ?? [];
  const reload = (
    <button type="button" className={ui.plain} disabled={loading} onClick={() => void load()}>
      <Icon name="retry" /> Check again
    </button>
  );
  return (
    <>
      <Section title={headline(findings, open)} aside={reload}>
        {findings === undefined && <p className={ui.hint}>Checking the setup…</p>}
        <ul className={styles.findings} aria-label="To fix" aria-busy={loading}>
          {open.map((finding) => (
            <Finding key={finding.about + finding.found} finding={finding} busy={loading} onFix={fix} />
          ))}
        </ul>
      </Section>
      {ok.length > 0 && (
        <Section title="OK">
          <ul className={styles.findings} aria-label="OK">
            {ok.map((finding) => (
              <Finding key={finding.about + finding.found} finding={finding} busy={loading} onFix={fix} />
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function headline(findings: readonly FindingInfo[] | undefined, open: readonly FindingInfo[]): string {
  if (findings === undefined) return "Checking…";
  if (open.some((finding) => finding.essential)) return "Something essential is missing";
  return open.length === 0 ? "Everything is OK" : plural(open.length, "suggestion");
}

interface FindingProps {
  readonly finding: FindingInfo;
  readonly busy: boolean;
  readonly onFix: (remedy: Remedy) => Promise<void> | void;
}

const Finding = ({ finding, busy, onFix }: FindingProps) => (
  <li className={styles.finding} data-state={finding.state}>
    <Icon name={ICONS[finding.state]} />
    <div>
      <p>
        <span className={ui.visuallyHidden}>{LABELS[finding.state]}: </span>
        {finding.about && <strong>{finding.about}</strong>} {finding.found}
      </p>
      {finding.fix && <p className={styles.fix}>{withCommands(finding.fix)}</p>}
      {finding.remedies.length > 0 && (
        <div className={styles.remedies}>
          {offered(finding.remedies).map((remedy) =>
            remedy.kind === "command" ? (
              <Copyable key={remedy.value} command={remedy.value} />
            ) : (
              <button
                key={remedy.kind + remedy.value}
                type="button"
                className={ui.button}
                disabled={busy}
                onClick={() => void onFix(remedy)}
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

/** Shows one “Add a key” button, however many providers there are. */
const offered = (remedies: readonly Remedy[]): readonly Remedy[] => {
  const first = remedies.find((remedy) => remedy.kind === "key");
  return remedies.filter((remedy) => remedy.kind !== "key" || remedy === first);
};

function labelOf({ kind, value }: Remedy): string {
  if (kind === "trust") return "Trust this workspace";
  if (kind === "key") return "Add a key";
  return `Use ${value}`;
}

/** Renders text between backticks as a command with a copy button. */
const withCommands = (text: string) =>
  text.split(/`([^`]+)`/).map((part, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other key than their place
    place % 2 === 0 ? part : <Copyable key={place} command={part} />,
  );

const Copyable = ({ command }: { command: string }) => (
  <span className={styles.copyable}>
    <code>{command}</code>
    <CopyButton text={command} label={`Copy ${command}`} />
  </span>
);
