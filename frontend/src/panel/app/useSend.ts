import { useCallback, useRef } from "react";
import type { BrainService } from "../../client/index.ts";
import type { ExecuteRequest, Task } from "../../wire/types.ts";
import type { Submission } from "../features/chat/Composer.tsx";
import { host } from "../stores/host.ts";
import { selectTask } from "../stores/location.ts";
import { preferences } from "../stores/preferences.ts";
import { showError } from "../stores/toasts.ts";

interface Options {
  readonly service: BrainService;
  readonly current: Task | undefined;
  readonly selected: string | undefined;
}

/** Steers or continues the selected task. Starts a new one if none is selected, or if a message can't carry it. */
export function useSend({ service, current, selected }: Options): (submission: Submission) => Promise<boolean> {
  // A retry after a lost answer reuses the key, so that the task can't start twice.
  const key = useRef<{ readonly text: string; readonly key: string }>(undefined);
  return useCallback(
    async (submission: Submission): Promise<boolean> => {
      try {
        if (selected !== undefined && !needsOptions(submission)) {
          await service.message(selected, submission.text);
        } else {
          if (key.current?.text !== submission.text) key.current = { text: submission.text, key: crypto.randomUUID() };
          const task = await service.execute(buildRequest(submission, current), key.current.key);
          key.current = undefined;
          selectTask(task.id);
        }
        return true;
      } catch (error) {
        showError(error);
        return false;
      }
    },
    [service, current, selected],
  );
}

/** A message carries text only. */
const needsOptions = ({ intent, agent, attachments }: Submission): boolean =>
  intent !== undefined || agent !== undefined || attachments.length > 0;

/** `previous` is the task before it in the conversation; the new one runs in the same workspace. */
function buildRequest(submission: Submission, previous: Task | undefined): ExecuteRequest {
  const { approvals, model, maxMinutes, maxCostUsd } = preferences();
  const { context } = host.get();
  return {
    task: submission.text,
    context: {
      ...context,
      ...(previous === undefined ? {} : { workspace: previous.workspace }),
      openFiles: [...new Set([...(context.openFiles ?? []), ...submission.mentioned])],
      attachments: [...submission.attachments],
    },
    options: {
      approvals: approvals === "plan" ? "ask" : approvals,
      ...(approvals === "plan" ? { plan: true } : {}),
      maxDuration: maxMinutes * 60,
      ...(model === null ? {} : { models: { fast: model, smart: model, instant: model } }),
      ...(maxCostUsd === null ? {} : { maxCostUsd }),
      ...(submission.intent ? { intent: submission.intent } : {}),
      ...(submission.agent ? { agentType: submission.agent } : {}),
      ...(previous === undefined ? {} : { conversationId: previous.conversationId }),
    },
  };
}
