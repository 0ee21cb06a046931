import { useState } from "react";
import type { Thread } from "../../../client/index.ts";
import { itemOf, ProblemError } from "../../../client/index.ts";
import type { ApprovalRequest } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Icon } from "../../shared/icons.tsx";
import { complain, say } from "../../shared/toasts.tsx";

/** Several questions that wait at the same time, each shown in full above, answered together. */
export function Several({ thread }: { thread: Thread }) {
  const service = useBrain();
  const [busy, setBusy] = useState(false);
  const waiting = thread.asking.filter((key) => itemOf(thread, key)?.kind === "approval");
  if (waiting.length < 2 || thread.status !== "waiting") return null;
  const answer = async (decision: ApprovalRequest["decision"]) => {
    setBusy(true);
    try {
      await service.approveSeveral(
        thread.taskId,
        waiting.map((approvalId) => ({ approvalId, decision })),
      );
      document.querySelector<HTMLElement>("[data-composer]")?.focus();
    } catch (error) {
      if (error instanceof ProblemError && error.status === 409) say("Some of them were already answered elsewhere.");
      else complain(error);
    }
    setBusy(false);
  };
  return (
    <section className="approval approval-several" aria-label="All approvals">
      <Icon name="shield" />
      <strong>{waiting.length} questions wait for you</strong>
      <button type="button" className="button" disabled={busy} onClick={() => void answer("allow")}>
        Allow all, once
      </button>
      <button type="button" className="button" disabled={busy} onClick={() => void answer("deny")}>
        Deny all
      </button>
    </section>
  );
}
