import type { Status } from "../wire/types.ts";
import type { Thread } from "./thread.ts";

const ENDED: ReadonlySet<Status> = new Set<Status>(["completed", "failed", "cancelled", "escalated"]);
const RESUMABLE: ReadonlySet<Status> = new Set<Status>(["failed", "cancelled", "interrupted", "escalated"]);
const CANCELLABLE: ReadonlySet<Status> = new Set<Status>(["queued", "running", "waiting", "interrupted"]);

export const hasEnded = (status: Status): boolean => ENDED.has(status);
/** False for a failure that would only repeat itself. */
export const canResume = ({ status, error }: Pick<Thread, "status" | "error">): boolean =>
  RESUMABLE.has(status) && !(status === "failed" && error?.recoverable === false);
export const canCancel = (status: Status): boolean => CANCELLABLE.has(status);
/** True while the task runs or waits to run. */
export const isActive = (status: Status): boolean => !hasEnded(status) && status !== "interrupted";
