import { useCallback, useEffect, useRef, useState } from "react";
import { type BrainService, isActive, type Thread, type WatchRegistry } from "../../client/index.ts";
import type { ExecuteRequest } from "../../wire/types.ts";
import type { Submission } from "../features/chat/Composer.tsx";
import { host } from "../stores/host.ts";
import { selectTask } from "../stores/location.ts";
import { rememberSent } from "../stores/pictures.ts";
import { preferences } from "../stores/preferences.ts";
import { dequeue, enqueue, type QueuedMessage, useQueue } from "../stores/queue.ts";
import { showError, showToast } from "../stores/toasts.ts";

/** Steers or continues the selected task; starts a new one if none is selected. */
export function useSend(
  registry: WatchRegistry,
  selected: string | undefined,
): (submission: Submission) => Promise<boolean> {
  // A retry after a lost answer reuses the key, so that the task can't start twice.
  const key = useRef<{ readonly text: string; readonly key: string }>(undefined);
  return useCallback(
    async (submission: Submission): Promise<boolean> => {
      const { service } = registry;
      try {
        if (selected !== undefined) {
          const message = { taskId: selected, text: submission.typed, attachments: submission.attachments };
          if (isWriting(registry.watch(selected).snapshot().thread)) enqueue(message);
          else await deliver(service, message);
        } else {
          if (key.current?.text !== submission.text) key.current = { text: submission.text, key: crypto.randomUUID() };
          const task = await service.submit(buildRequest(submission), key.current.key);
          if (task.notice) showToast(task.notice, { tone: "error" });
          key.current = undefined;
          void rememberSent(task.id, submission.text, submission.attachments);
          selectTask(task.id);
        }
        return true;
      } catch (error) {
        showError(error);
        return false;
      }
    },
    [registry, selected],
  );
}

/** An agent that writes reads messages after this turn only: until then you can still change them. */
const isWriting = (thread: Thread): boolean =>
  isActive(thread.status) && [...thread.drafts.values()].some((draft) => !draft.cut);

async function deliver(service: BrainService, message: Omit<QueuedMessage, "id">): Promise<void> {
  await service.message(message.taskId, message.text, message.attachments);
  void rememberSent(message.taskId, message.text, message.attachments);
}

/** A message goes to the sidecar after this time at the latest, so that closing the panel doesn't hold it back. */
const MOST_WAIT_MS = 8_000;

/** Sends a task's queued messages once its agent can hear them. Returns how to send one at once. */
export function useQueueDelivery(service: BrainService, thread: Thread): (id: string) => void {
  const queue = useQueue(thread.taskId);
  const sending = useRef(false);
  const send = useCallback(
    async (message: QueuedMessage) => {
      if (sending.current) return;
      sending.current = true;
      try {
        await deliver(service, message);
        dequeue(message.id);
      } catch (error) {
        showError(error);
      } finally {
        sending.current = false;
      }
    },
    [service],
  );
  const first = queue[0];
  const [overdue, setOverdue] = useState<string>();
  useEffect(() => {
    if (first === undefined) return;
    const timer = setTimeout(() => setOverdue(first.id), MOST_WAIT_MS);
    return () => clearTimeout(timer);
  }, [first]);
  const heard = !isWriting(thread) || overdue === first?.id;
  const ready = thread.lastSeq > 0 && heard && thread.status !== "cancelling";
  // biome-ignore lint/correctness/useExhaustiveDependencies: a refused message is tried again with the next change
  useEffect(() => {
    if (first !== undefined && ready) void send(first);
  }, [first?.id, ready, thread.status, send]);
  return useCallback(
    (id: string) => {
      const message = queue.find((one) => one.id === id);
      if (message) void send(message);
    },
    [queue, send],
  );
}

function buildRequest(submission: Submission): ExecuteRequest {
  const { approvals, model, effort, maxMinutes, maxCostUsd } = preferences();
  const { context } = host.get();
  return {
    task: submission.text,
    context: {
      ...context,
      openFiles: [...new Set([...(context.openFiles ?? []), ...submission.mentioned])],
      attachments: [...submission.attachments],
    },
    options: {
      approvals: approvals === "plan" ? "ask" : approvals,
      ...(approvals === "plan" ? { plan: true } : {}),
      maxDuration: maxMinutes * 60,
      ...(model === null ? {} : { models: { fast: model, smart: model, instant: model } }),
      ...(effort === null ? {} : { effort }),
      ...(maxCostUsd === null ? {} : { maxCostUsd }),
      ...(submission.intent ? { intent: submission.intent } : {}),
      ...(submission.agent ? { agentType: submission.agent } : {}),
    },
  };
}
