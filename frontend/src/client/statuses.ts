import type { Status } from "../wire/types.ts";
import type { Thread } from "./thread.ts";

const ENDED: ReadonlySet<Status> = new Set<Status>(["completed", "failed", "cancelled", "escalated"]);
const RESUMABLE: ReadonlySet<Status> = new Set<Status>(["failed", "cancelled", "interrupted", "escalated"]);
const CANCELLABLE: ReadonlySet<Status> = new Set<Status>(["queued", "running", "waiting", "interrupted"]);

export const hasEnded = (status: Status): boolean => ENDED.has(status);
/** Whether it may get further if it goes on: what failed and would only fail again is not worth a try. */
export const canResume = ({ status, error }: Pick<Thread, "status" | "error">): boolean =>
  RESUMABLE.has(status) && !(status === "failed" && error?.recoverable === false);
export const canCancel = (status: Status): boolean => CANCELLABLE.has(status);
/** Somebody is at work on it, or will be. */
export const isActive = (status: Status): boolean => !hasEnded(status) && status !== "interrupted";
