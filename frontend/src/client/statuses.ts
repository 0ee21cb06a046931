import type { Status } from "../wire/types.ts";

const ENDED: ReadonlySet<Status> = new Set<Status>(["completed", "failed", "cancelled", "escalated"]);
const RESUMABLE: ReadonlySet<Status> = new Set<Status>(["failed", "cancelled", "interrupted", "escalated"]);
const CANCELLABLE: ReadonlySet<Status> = new Set<Status>(["queued", "running", "waiting", "interrupted"]);

export const hasEnded = (status: Status): boolean => ENDED.has(status);
export const canResume = (status: Status): boolean => RESUMABLE.has(status);
export const canCancel = (status: Status): boolean => CANCELLABLE.has(status);
/** Somebody is at work on it, or will be. */
export const isActive = (status: Status): boolean => !hasEnded(status) && status !== "interrupted";
