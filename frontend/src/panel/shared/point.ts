/** A moment of a task that can be gone back to. */
export interface Point {
  /** The last event that still counts then. */
  readonly seq: number;
  /** In words, after “Rewind to”. */
  readonly label: string;
  /** What is chosen to begin with: files and conversation unless told. */
  readonly way?: "both" | "files" | "fork";
  /** What a task that begins there is to do, to begin with. */
  readonly words?: string;
}
