export type * from "../wire/types.ts";
export { backoffMs } from "./backoff.ts";
export type { Connection, FollowOptions } from "./follow.ts";
export { TaskHandle } from "./handle.ts";
export {
  BrainError,
  isMissingRoute,
  isNotFound,
  isTransient,
  isUnauthenticated,
  ProblemError,
  Unreachable,
} from "./problem.ts";
export { beginConnection, reduce, reduceAll, releaseHeld } from "./reduce.ts";
export { WatchRegistry } from "./registry.ts";
export { BrainService, type ServiceOptions, type TaskQuery } from "./service.ts";
export { CodeSession, type Credentials, fixedToken } from "./session.ts";
export type { EventBatch } from "./sse.ts";
export { canCancel, canResume, hasEnded, isActive } from "./statuses.ts";
export type { StreamCallbacks } from "./stream.ts";
export { reduceTasks, TaskFeed, type TaskList } from "./tasks.ts";
export * from "./thread.ts";
export { notRewound, type Rewind } from "./timeline.ts";
export { TaskWatch, type Watched } from "./watch.ts";
