import { useState } from "react";
import type { ApprovalItem, Thread } from "../../../client/index.ts";
import { itemOf, ProblemError } from "../../../client/index.ts";
import type { ApprovalRequest } from "../../../wire/types.ts";
import { describeAction, describeQuestion } from "../../shared/approval-text.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Icon } from "../../shared/icons.tsx";
import ui from "../../shared/ui.module.css";
import { useCommands } from "../../stores/commands.ts";
import { showError, showToast } from "../../stores/toasts.ts";
import styles from "./approvals.module.css";
import { useSeenApprovals } from "./seen.ts";

const openApprovals = (thread: Thread): ApprovalItem[] =>
  thread.status === "waiting"
    ? thread.openApprovals.map((key) => itemOf(thread, key)).filter((item) => item?.kind === "approval")
    : [];

/** Answers several open approvals at once; each has its own card above. */
export function AllApprovals({ thread }: { thread: Thread }) {
  const service = useBrain();
  const [busy, setBusy] = useState(false);
  const seen = useSeenApprovals();
  const open = openApprovals(thread);
  const allowable = open.every((item) => seen.has(item.approvalId) && !item.omittedLines);
  if (open.length < 2) return null;
  const answer = async (decision: ApprovalRequest["decision"]) => {
    setBusy(true);
    try {
      await service.approveAll(
        thread.taskId,
        open.map(({ approvalId }) => ({ approvalId, decision })),
      );
    } catch (error) {
      if (error instanceof ProblemError && error.status === 409)
        showToast("Some of them were already answered in another window.");
      else showError(error);
    }
    setBusy(false);
  };
  return (
    <section className={styles.all} aria-label="All approvals">
      <Icon name="shield" />
      <strong>{open.length} approvals needed</strong>
      <button
        type="button"
        className={ui.button}
        disabled={busy || !allowable}
        title={allowable ? undefined : "Look at each of them first"}
        onClick={() => void answer("allow")}
      >
        Allow all, once
      </button>
      <button type="button" className={ui.button} disabled={busy} onClick={() => void answer("deny")}>
        Deny all
      </button>
    </section>
  );
}

/** Announces an open approval to screen readers, and offers the key that goes to it. */
export function ApprovalAnnouncement({ thread }: { thread: Thread }) {
  const [first, ...others] = openApprovals(thread);
  useCommands([
    first !== undefined && {
      id: "approval.focus",
      title: "Focus the approval",
      group: "Task",
      keys: "alt+a",
      run: () => document.querySelector<HTMLElement>("[data-approval]")?.focus(),
    },
  ]);
  return (
    <p className={ui.visuallyHidden} aria-live="assertive">
      {first && `Approval needed: ${describeQuestion(first)} ${describeAction(first)}`}
      {others.length > 0 && `, and ${others.length} more`}
    </p>
  );
}
