/** A moment of a task that you can rewind to or fork from. */
export interface RewindPoint {
  /** The last event that still counts. */
  readonly seq: number;
  /** Completes “Rewind to …”. */
  readonly label: string;
  /** The preselected mode; files and conversation unless given. */
  readonly mode?: "both" | "files" | "fork";
  /** The preselected task of a fork. */
  readonly text?: string;
}
