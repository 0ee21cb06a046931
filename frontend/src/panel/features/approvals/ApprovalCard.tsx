import { type KeyboardEvent, useLayoutEffect, useRef, useState } from "react";
import { type ApprovalItem, isActive, ProblemError } from "../../../client/index.ts";
import type { ApprovalRequest, Status } from "../../../wire/types.ts";
import { describeAction, describeQuestion } from "../../shared/approval-text.ts";
import { useBrain } from "../../shared/brain.tsx";
import { HunkLines } from "../../shared/diff/HunkLines.tsx";
import { filesOf } from "../../shared/diff/parse.ts";
import { Icon } from "../../shared/icons.tsx";
import { commandLine, revealHidden } from "../../shared/text.ts";
import ui from "../../shared/ui.module.css";
import { keyLabels, matches } from "../../stores/commands.ts";
import { focusComposer } from "../../stores/composer.ts";
import { showError, showToast } from "../../stores/toasts.ts";
import styles from "./approvals.module.css";
import { useSeenApprovals, useWholeSeen } from "./seen.ts";

type Scope = NonNullable<ApprovalRequest["scope"]>;
const SCOPES: readonly (readonly [Scope, string])[] = [
  ["once", "once"],
  ["task", "for this task"],
  ["workspace", "in this workspace"],
];
const ALLOW_KEYS = "mod+enter";

interface Props {
  readonly taskId: string;
  readonly item: ApprovalItem;
  readonly status: Status;
}

/** An approval in the conversation: the whole action, and the buttons to answer it. */
export function ApprovalCard({ taskId, item, status }: Props) {
  const open = item.state === "requested" && isActive(status) && status !== "cancelling";
  return open ? <OpenApproval taskId={taskId} item={item} /> : <AnsweredApproval taskId={taskId} item={item} />;
}

/**
 * Never takes the focus by itself: you may be typing, and a key that is meant for the composer must not answer. Once you
 * have focused the card, Ctrl-Enter or Cmd-Enter allows, and 1 to 3 choose the scope. It can be allowed only after the
 * whole action has been visible.
 */
function OpenApproval({ taskId, item }: Omit<Props, "status">) {
  const service = useBrain();
  const card = useRef<HTMLElement>(null);
  const [scope, setScope] = useState<Scope>("once");
  const [busy, setBusy] = useState(false);
  const [withoutRest, setWithoutRest] = useState(false);
  const ends = useWholeSeen(item.approvalId);
  const seen = useSeenApprovals().has(item.approvalId);
  const allowable = seen && (!item.omittedLines || withoutRest);
  // The card disappears when it is answered, here or elsewhere.
  useLayoutEffect(() => {
    const element = card.current;
    return () => {
      if (element?.contains(document.activeElement)) focusComposer();
    };
  }, []);
  const answer = async (decision: ApprovalRequest["decision"]) => {
    setBusy(true);
    try {
      await service.approve(taskId, item.approvalId, { decision, scope });
    } catch (error) {
      if (error instanceof ProblemError && error.status === 409) showToast("Already answered in another window.");
      else showError(error);
      setBusy(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (busy || event.repeat) return;
    const { nativeEvent } = event;
    const choice = SCOPES[Number(event.key) - 1];
    if (matches(nativeEvent, ALLOW_KEYS) || matches(nativeEvent, "ctrl+enter")) {
      if (allowable) void answer("allow");
      else ends.start.current?.scrollIntoView({ block: "center" });
    } else if (choice && !event.ctrlKey && !event.metaKey && !event.altKey) setScope(choice[0]);
    else return;
    event.preventDefault();
  };
  return (
    <section
      ref={card}
      className={styles.approval}
      aria-label="Approval"
      data-approval=""
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <header>
        <Icon name="shield" />
        <strong>{describeQuestion(item)}</strong>
      </header>
      <span ref={ends.start} />
      <Action item={item} />
      {item.omittedLines && (
        <label className={styles.rest}>
          <input type="checkbox" checked={withoutRest} onChange={(event) => setWithoutRest(event.target.checked)} />
          Allow it without seeing these lines
        </label>
      )}
      <p className={styles.why}>Asks because {revealHidden(item.why)}.</p>
      <span ref={ends.end} />
      {ends.hidden && !seen && (
        <p className={styles.unseen}>
          You can allow it once you have seen all of it.{" "}
          <button
            type="button"
            className={ui.link}
            onClick={() => ends.start.current?.scrollIntoView({ block: "start" })}
          >
            Go to its beginning
          </button>
        </p>
      )}
      <footer>
        <button type="button" className={ui.primary} disabled={busy || !allowable} onClick={() => void answer("allow")}>
          Allow
        </button>
        <button type="button" className={ui.button} disabled={busy} onClick={() => void answer("deny")}>
          Deny
        </button>
        <fieldset className={ui.segments}>
          <legend className={ui.visuallyHidden}>How long the answer holds</legend>
          {SCOPES.map(([value, label]) => (
            <label key={value}>
              <input
                type="radio"
                name={`scope-${item.key}`}
                checked={scope === value}
                onChange={() => setScope(value)}
              />
              <span>{label}</span>
            </label>
          ))}
        </fieldset>
        <span className={styles.keys} aria-hidden="true">
          {keyLabels("alt+a").map((label) => (
            <kbd key={label}>{label}</kbd>
          ))}{" "}
          focus{" "}
          {keyLabels(ALLOW_KEYS).map((label) => (
            <kbd key={label}>{label}</kbd>
          ))}{" "}
          allow
        </span>
      </footer>
    </section>
  );
}

/** What the diff shows, if not what the call would write. */
const SINCE = {
  trusted: "Changed since you trusted this workspace:",
  asked: "Changed since you last allowed this, or were asked:",
} as const;

/** The whole action: command, directory and diff. */
function Action({ item }: { item: ApprovalItem }) {
  return (
    <>
      {item.argv && <pre className={styles.command}>{commandLine(item.argv)}</pre>}
      {item.cwd && (
        <p className={styles.directory}>
          {item.cwd === "." ? (
            "in the workspace"
          ) : (
            <>
              in <code>{revealHidden(item.cwd)}</code>
            </>
          )}
        </p>
      )}
      {item.since && <p className={styles.why}>{SINCE[item.since]}</p>}
      {item.diff &&
        filesOf(item.diff).map((file) => (
          <div key={file.path} className={styles.file}>
            <code>{revealHidden(file.path)}</code>
            {file.hunks.map((hunk) => (
              <HunkLines key={hunk.id} hunk={hunk} language={file.path} />
            ))}
          </div>
        ))}
      {item.omittedLines && <p className={styles.why}>{item.omittedLines} more lines not shown.</p>}
    </>
  );
}

const LABELS = { allowed: "Allowed", denied: "Denied", requested: "Not answered" } as const;
const ICONS = { allowed: "check", denied: "close", requested: "question" } as const;

function AnsweredApproval({ taskId, item }: Omit<Props, "status">) {
  const service = useBrain();
  const lasting = SCOPES.find(([scope]) => scope === item.scope && scope !== "once");
  const revoke = () =>
    service.revoke({ id: item.approvalId, taskId }).then(() => showToast("Revoked: it will ask again."), showError);
  return (
    <details className={styles.answered} data-state={item.state}>
      <summary>
        <Icon name={ICONS[item.state]} />
        {LABELS[item.state]}
        {lasting && ` ${lasting[1]}`}: {describeAction(item)}
      </summary>
      <Action item={item} />
      <p className={styles.why}>Asked because {revealHidden(item.why)}.</p>
      {item.state === "allowed" && item.scope === "task" && (
        <button type="button" className={ui.button} onClick={() => void revoke()}>
          Ask again next time
        </button>
      )}
    </details>
  );
}
