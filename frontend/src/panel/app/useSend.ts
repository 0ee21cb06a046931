import { type RefObject, useCallback, useRef } from "react";
import type { BrainService } from "../../client/index.ts";
import type { ExecuteRequest, Task } from "../../wire/types.ts";
import type { Sending } from "../features/chat/Composer.tsx";
import { hostContext } from "../features/host/useHost.ts";
import { preferences } from "../shared/preferences.ts";
import { complain } from "../shared/toasts.tsx";
import { selectTask } from "./location.ts";

interface Options {
  readonly service: BrainService;
  readonly current: Task | undefined;
  readonly selected: string | undefined;
  readonly again: RefObject<() => void>;
  readonly look: () => void;
}

/** Steers or continues the task that is shown; with none, or for what a message cannot carry, starts a new one. */
export function useSend({ service, current, selected, again, look }: Options): (sending: Sending) => Promise<boolean> {
  // A send whose answer was lost is sent with the same key again, so that it cannot start twice.
  const key = useRef<{ readonly text: string; readonly key: string }>(undefined);
  return useCallback(
    async (sending: Sending): Promise<boolean> => {
      try {
        if (selected !== undefined && !needsOptions(sending)) {
          await service.message(selected, sending.text);
          again.current();
        } else {
          if (key.current?.text !== sending.text) key.current = { text: sending.text, key: crypto.randomUUID() };
          const task = await service.execute(request(sending, current), key.current.key);
          key.current = undefined;
          selectTask(task.id);
        }
        look();
        return true;
      } catch (error) {
        complain(error);
        return false;
      }
    },
    [service, current, selected, again, look],
  );
}

/** A message carries words only. */
const needsOptions = ({ intent, agent, attachments }: Sending): boolean =>
  intent !== undefined || agent !== undefined || attachments.length > 0;

/** `before` is the task that it follows: what comes after it is about the same workspace. */
function request(sending: Sending, before: Task | undefined): ExecuteRequest {
  const { approvals, model, maxMinutes, maxCostUsd } = preferences();
  const context = hostContext();
  return {
    task: sending.text,
    context: {
      ...context,
      ...(before === undefined ? {} : { workspace: before.workspace }),
      openFiles: [...new Set([...(context.openFiles ?? []), ...sending.mentioned])],
      attachments: [...sending.attachments],
    },
    options: {
      approvals,
      maxDuration: maxMinutes * 60,
      ...(model === null ? {} : { models: { fast: model, smart: model, instant: model } }),
      ...(maxCostUsd === null ? {} : { maxCostUsd }),
      ...(sending.intent ? { intent: sending.intent } : {}),
      ...(sending.agent ? { agentType: sending.agent } : {}),
      ...(before === undefined ? {} : { conversationId: before.conversationId }),
    },
  };
}
