export type * from "../wire/types.ts";
export { backoffMs } from "./backoff.ts";
export type { Connection, FollowOptions } from "./follow.ts";
export { TaskHandle } from "./handle.ts";
export { type TaskList, TaskLists } from "./lists.ts";
export {
  BrainError,
  isMissingRoute,
  isNotFound,
  isTransient,
  isUnauthenticated,
  ProblemError,
  Unreachable,
} from "./problem.ts";
export { reconnected, reduce, reduceAll, release } from "./reduce.ts";
export { BrainService, type ServiceOptions, type TaskQuery } from "./service.ts";
export { CodeSession, type Credentials, fixedToken } from "./session.ts";
export { canCancel, canResume, hasEnded, isActive } from "./statuses.ts";
export * from "./thread.ts";
export { counting, type Rewind } from "./timeline.ts";
export { TaskWatch, type Watched } from "./watch.ts";
