import { useEffect, useRef, useState } from "react";
import { type ApprovalItem, isActive, ProblemError } from "../../../client/index.ts";
import type { ApprovalRequest, Status } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { HunkLines } from "../../shared/diff/HunkLines.tsx";
import { type DiffFile, filesOf } from "../../shared/diff/parse.ts";
import { Icon } from "../../shared/icons.tsx";
import { complain, say } from "../../shared/toasts.tsx";
import { commandLine, visible } from "../../shared/visible.ts";

type Scope = NonNullable<ApprovalRequest["scope"]>;
const SCOPES: readonly (readonly [Scope, string])[] = [
  ["once", "once"],
  ["task", "for this task"],
  ["workspace", "in this workspace"],
];

interface Props {
  readonly taskId: string;
  readonly item: ApprovalItem;
  readonly status: Status;
}

/** A question in the flow of the conversation, with everything that is needed to answer it. */
export function ApprovalCard({ taskId, item, status }: Props) {
  const open = item.state === "requested" && isActive(status) && status !== "cancelling";
  if (!open) return <Answered taskId={taskId} item={item} />;
  return <Question taskId={taskId} item={item} />;
}

function Question({ taskId, item }: Omit<Props, "status">) {
  const service = useBrain();
  const card = useRef<HTMLElement>(null);
  const [scope, setScope] = useState<Scope>("once");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    // Whoever is in the middle of a sentence is not interrupted.
    const active = document.activeElement;
    const typing = active instanceof HTMLTextAreaElement && active.value !== "";
    if (!typing && !document.querySelector("dialog[open]")) card.current?.focus();
  }, []);
  const answer = async (decision: ApprovalRequest["decision"]) => {
    setBusy(true);
    try {
      await service.approve(taskId, item.approvalId, { decision, scope });
      document.querySelector<HTMLElement>("[data-composer]")?.focus();
    } catch (error) {
      if (error instanceof ProblemError && error.status === 409) say("This was already answered elsewhere.");
      else complain(error);
      setBusy(false);
    }
  };
  const pressed = (event: React.KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || busy) return;
    const key = event.key.toLowerCase();
    if (key === "a" || key === "y") void answer("allow");
    else if (key === "d" || key === "n") void answer("deny");
    else if (/^[123]$/.test(key)) setScope(SCOPES[Number(key) - 1]![0]);
    else return;
    event.preventDefault();
  };
  return (
    <section ref={card} className="approval" aria-label="Approval" tabIndex={-1} onKeyDown={pressed}>
      <header>
        <Icon name="shield" />
        <strong>{asked(item)}</strong>
      </header>
      <Act item={item} />
      <p className="approval-why">It asks because {visible(item.why)}.</p>
      <footer>
        <button type="button" className="button button-primary" disabled={busy} onClick={() => void answer("allow")}>
          Allow
        </button>
        <button type="button" className="button" disabled={busy} onClick={() => void answer("deny")}>
          Deny
        </button>
        <fieldset className="segments">
          <legend className="hidden">For how long</legend>
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
        <span className="approval-keys" aria-hidden="true">
          <kbd>A</kbd> allow <kbd>D</kbd> deny
        </span>
      </footer>
    </section>
  );
}

/** The whole of what would be done: nothing is left out, nothing hides. */
function Act({ item }: { item: ApprovalItem }) {
  return (
    <>
      {item.argv && <pre className="approval-argv">{commandLine(item.argv)}</pre>}
      {item.cwd && (
        <p className="approval-cwd">
          {item.cwd === "." ? (
            "in the workspace"
          ) : (
            <>
              in <code>{visible(item.cwd)}</code>
            </>
          )}
        </p>
      )}
      {item.diff &&
        filesOf(item.diff).map((file) => (
          <div key={file.path} className="approval-file">
            <code>{visible(file.path)}</code>
            {file.hunks.map((hunk) => (
              <HunkLines key={hunk.id} hunk={hunk} language={file.path} />
            ))}
          </div>
        ))}
      {leftOut(item.diff) && <p className="approval-why">{leftOut(item.diff)} are not shown here.</p>}
    </>
  );
}

/** A change of many thousand lines is cut off by the sidecar, which says so in the last line. */
const leftOut = (diff: string | undefined): string | undefined => /\n… (\d+ more lines)$/.exec(diff ?? "")?.[1];

const VERBS: Record<DiffFile["change"], string> = { created: "Create", deleted: "Delete", modified: "Change" };

/** The question, in a few words; what it is about stands below in full. */
function asked(item: ApprovalItem): string {
  if (item.argv) return "Run this command?";
  const files = filesOf(item.diff ?? "");
  const verbs = new Set(files.map(({ change }) => VERBS[change]));
  if (files.length === 0 || files.some(({ path }) => path === "")) return visible(item.action);
  return `${verbs.size === 1 ? [...verbs][0] : "Change"} ${files.length === 1 ? "this file" : `${files.length} files`}?`;
}

/** The act on one line, for when it is over. */
const acted = (item: ApprovalItem): string => {
  if (item.argv) return commandLine(item.argv);
  const files = filesOf(item.diff ?? "").filter(({ path }) => path !== "");
  if (files.length === 0) return visible(item.action);
  return files.map(({ change, path }) => `${VERBS[change].toLowerCase()} ${visible(path)}`).join(", ");
};

const WORDS = { allowed: "Allowed", denied: "Denied", requested: "Not answered" } as const;
const MARKS = { allowed: "check", denied: "close", requested: "question" } as const;

function Answered({ taskId, item }: Omit<Props, "status">) {
  const service = useBrain();
  const lasting = SCOPES.find(([scope]) => scope === item.scope && scope !== "once");
  const revoke = () =>
    service.revoke({ id: item.approvalId, taskId }).then(() => say("It is asked about again."), complain);
  return (
    <details className={`approval-answered approval-${item.state}`}>
      <summary>
        <Icon name={MARKS[item.state]} />
        {WORDS[item.state]}
        {lasting && ` ${lasting[1]}`}: {acted(item)}
      </summary>
      <Act item={item} />
      <p className="approval-why">It asked because {visible(item.why)}.</p>
      {item.state === "allowed" && item.scope === "task" && (
        <button type="button" className="button" onClick={() => void revoke()}>
          Ask again next time
        </button>
      )}
    </details>
  );
}
