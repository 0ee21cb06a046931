import type { Status } from "../../../wire/types.ts";

/** The task's state, in the words of the wire. */
export const TaskStatus = ({ status }: { status: Status }) => (
  <span role="status" aria-label="Task status" className={`status status-${status}`}>
    {status}
  </span>
);
