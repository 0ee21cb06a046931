import type { Status } from "../../../wire/types.ts";
import styles from "./control.module.css";

/** The task's status, as on the wire. */
export const TaskStatus = ({ status }: { status: Status }) => (
  <span role="status" aria-label="Task status" className={styles.status} data-status={status}>
    {status}
  </span>
);
