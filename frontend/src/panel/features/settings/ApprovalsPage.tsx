import { useEffect, useState } from "react";
import type { ApprovalInfo, GrantInfo, TrustAnswer } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { ago, leaf } from "../../shared/format.ts";
import { MODES } from "../../shared/modes.ts";
import { commandLine, revealHidden } from "../../shared/text.ts";
import ui from "../../shared/ui.module.css";
import { setPreferences, usePreferences } from "../../stores/preferences.ts";
import { showError, showToast } from "../../stores/toasts.ts";
import { Section } from "./Section.tsx";
import styles from "./settings.module.css";

/** The approval mode, standing approvals and trusted workspaces. */
export function ApprovalsPage() {
  const { approvals } = usePreferences();
  return (
    <>
      <Section title="Approval mode">
        <label className={styles.field}>
          <span>New tasks</span>
          <select
            value={approvals}
            onChange={(event) => setPreferences({ approvals: event.target.value as typeof approvals })}
          >
            {MODES.map(({ value, label, hint }) => (
              <option key={value} value={value}>
                {`${label}: ${hint}`}
              </option>
            ))}
          </select>
        </label>
      </Section>
      <Allowed />
      <Granted />
      <Trusted />
    </>
  );
}

/** Approvals for a task or workspace. A revoked one is asked again, also by a running task. */
function Allowed() {
  const service = useBrain();
  const [allowed, setAllowed] = useState<readonly ApprovalInfo[]>();
  useEffect(() => {
    const stop = new AbortController();
    service.approvals(stop.signal).then(
      (answer) => setAllowed(answer.approvals),
      (error: unknown) => stop.signal.aborted || showError(error),
    );
    return () => stop.abort();
  }, [service]);
  const revoke = async (grant: ApprovalInfo) => {
    try {
      setAllowed((await service.revoke(grant)).approvals);
      showToast("Revoked: it will ask again.");
    } catch (error) {
      showError(error);
    }
  };
  return (
    <Section title="Standing approvals">
      {allowed?.length === 0 && (
        <p className={ui.hint}>
          None. Approvals “for this task” or “in this workspace” are listed here, and you can revoke them.
        </p>
      )}
      <ul className={styles.rows} aria-label="Allowed">
        {allowed?.map((grant) => {
          const action = revealHidden(grant.argv ? commandLine(grant.argv) : grant.action);
          return (
            <li key={`${grant.taskId ?? ""} ${grant.id}`}>
              <div>
                <code className={styles.command}>{action}</code>
                <small>{describeScope(grant)}</small>
              </div>
              <button
                type="button"
                className={ui.button}
                aria-label={`Revoke ${action}`}
                onClick={() => void revoke(grant)}
              >
                Revoke
              </button>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function describeScope({ task, taskId, workspace, cwd, at }: ApprovalInfo): string {
  const where = cwd && cwd !== "." && cwd !== workspace ? `, run in ${revealHidden(cwd)}` : "";
  if (taskId !== undefined)
    return `for the task “${revealHidden((task ?? "").split("\n", 1)[0]!.slice(0, 80))}”${where}`;
  const since = at === null ? "" : `, since ${ago(new Date(at * 1_000).toISOString())}`;
  return `in ${leaf(workspace)} (${workspace})${where}${since === ", since now" ? ", just now" : since}`;
}

/** Standing permissions of repositories, given with `brain policy allow`. */
function Granted() {
  const service = useBrain();
  const [grants, setGrants] = useState<readonly GrantInfo[]>();
  useEffect(() => {
    const stop = new AbortController();
    service.grants(stop.signal).then(
      (answer) => setGrants(answer.grants),
      (error: unknown) => stop.signal.aborted || showError(error),
    );
    return () => stop.abort();
  }, [service]);
  const revoke = (id: string) =>
    service.revokeGrant(id).then((answer) => {
      setGrants(answer.grants);
      showToast("Revoked.");
    }, showError);
  return (
    <Section title="Grants">
      {grants?.length === 0 && (
        <p className={ui.hint}>
          None. Grants permit work that runs unattended; give one with <code>brain policy allow</code>.
        </p>
      )}
      <ul className={styles.rows} aria-label="Granted">
        {grants?.map(({ id, kind, value, workspace, until }) => {
          const what = revealHidden(value === null ? kind : `${kind} ${value}`);
          return (
            <li key={id}>
              <div>
                <code className={styles.command}>{what}</code>
                <small>
                  {leaf(workspace)} ({workspace})
                  {until !== undefined && `, until ${new Date(until * 1_000).toLocaleString()}`}
                </small>
              </div>
              <button type="button" className={ui.button} aria-label={`Revoke ${what}`} onClick={() => void revoke(id)}>
                Revoke
              </button>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function Trusted() {
  const service = useBrain();
  const [answer, setAnswer] = useState<TrustAnswer>();
  useEffect(() => {
    const stop = new AbortController();
    service.trust(stop.signal).then(setAnswer, () => {});
    return () => stop.abort();
  }, [service]);
  if (answer === undefined || answer.workspaces.length === 0) return null;
  const set = (workspace: string, trusted: boolean) =>
    service.setTrust({ workspace, trusted }).then(setAnswer, showError);
  return (
    <Section title="Trusted workspaces">
      {answer.workspaces.map(({ workspace, trusted, why }) => (
        <label key={workspace} className={styles.field}>
          <span>
            <span className={styles.path}>{workspace}</span>
            <small>{why}</small>
          </span>
          <input type="checkbox" checked={trusted} onChange={(event) => void set(workspace, event.target.checked)} />
        </label>
      ))}
    </Section>
  );
}
