import { useEffect, useState } from "react";
import type { GrantInfo, TrustAnswer } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { prefer, usePreferences } from "../../shared/preferences.ts";
import { complain, say } from "../../shared/toasts.tsx";
import { commandLine, visible } from "../../shared/visible.ts";
import { ago, leaf } from "../../shared/words.ts";
import { Section } from "./Section.tsx";

/** How much it asks, what it need not ask again, and which workspaces are trusted. */
export function ApprovalsPage() {
  const { approvals } = usePreferences();
  return (
    <>
      <Section title="Before a command runs">
        <label className="field">
          <span>New tasks</span>
          <select value={approvals} onChange={(event) => prefer({ approvals: event.target.value as typeof approvals })}>
            <option value="ask">Ask first</option>
            <option value="auto">Run without asking</option>
            <option value="readonly">Read only: change nothing</option>
          </select>
        </label>
      </Section>
      <Allowed />
      <Trusted />
    </>
  );
}

/** What was allowed for longer than once; what is revoked is asked again, also by a task that is at work. */
function Allowed() {
  const service = useBrain();
  const [allowed, setAllowed] = useState<readonly GrantInfo[]>();
  useEffect(() => {
    const stop = new AbortController();
    service.approvals(stop.signal).then(
      (answer) => setAllowed(answer.approvals),
      (error: unknown) => stop.signal.aborted || complain(error),
    );
    return () => stop.abort();
  }, [service]);
  const revoke = async (grant: GrantInfo) => {
    try {
      setAllowed((await service.revoke(grant)).approvals);
      say("It is asked about again.");
    } catch (error) {
      complain(error);
    }
  };
  return (
    <Section title="Allowed for longer than once">
      {allowed?.length === 0 && (
        <p className="settings-note">
          Nothing. What you allow “for this task” or “in this workspace” is listed here, to be revoked.
        </p>
      )}
      <ul className="rows" aria-label="Allowed">
        {allowed?.map((grant) => {
          const what = visible(grant.argv ? commandLine(grant.argv) : grant.action);
          return (
            <li key={`${grant.taskId ?? ""} ${grant.id}`}>
              <div>
                <code className="rows-command">{what}</code>
                <small>{whatFor(grant)}</small>
              </div>
              <button type="button" className="button" aria-label={`Revoke ${what}`} onClick={() => void revoke(grant)}>
                Revoke
              </button>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function whatFor({ task, taskId, workspace, cwd, at }: GrantInfo): string {
  const where = cwd && cwd !== "." && cwd !== workspace ? `, run in ${visible(cwd)}` : "";
  if (taskId !== undefined) return `for the task “${visible((task ?? "").split("\n", 1)[0]!.slice(0, 80))}”${where}`;
  const since = at === null ? "" : `, since ${ago(new Date(at * 1_000).toISOString())}`;
  return `in ${leaf(workspace)} (${workspace})${where}${since === ", since now" ? ", just now" : since}`;
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
    service.setTrust({ workspace, trusted }).then(setAnswer, complain);
  return (
    <Section title="Trusted workspaces">
      {answer.workspaces.map(({ workspace, trusted, why }) => (
        <label key={workspace} className="field">
          <span>
            <span className="settings-path">{workspace}</span>
            <small>{why}</small>
          </span>
          <input type="checkbox" checked={trusted} onChange={(event) => void set(workspace, event.target.checked)} />
        </label>
      ))}
    </Section>
  );
}
