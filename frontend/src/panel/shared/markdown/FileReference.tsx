import { openFile } from "../../stores/preview.ts";
import styles from "./Markdown.module.css";

const EXTENSIONS =
  "bash c cc cfg clj conf cpp cs css csv dart ex go graphql h hpp html ini java js json jsonc jsx kt lock lua md mjs ml php pl proto py pyi rb rs rst scala scss sh sql svelte svg swift tex toml ts tsx txt vue xml yaml yml zig";
const REFERENCE = new RegExp(
  `^(?:\\./)?((?:[\\w@.+-]+/)*[\\w@.+-]*\\.(?:${EXTENSIONS.replaceAll(" ", "|")})|(?:[\\w@.+-]+/)*(?:Makefile|Dockerfile|LICENSE))(?::(\\d+)(?:[-–:]\\d+)?|#L(\\d+))?$`,
);

export interface Reference {
  readonly path: string;
  readonly line: number | undefined;
}

/** A file of the workspace that a text names, as in `src/app.ts:12`. */
export function referenceOf(text: string): Reference | undefined {
  const found = REFERENCE.exec(text.trim());
  if (!found || found[1]!.includes("..")) return undefined;
  const line = found[2] ?? found[3];
  return { path: found[1]!, line: line === undefined ? undefined : Number(line) };
}

/** Opens the file in the editor around the panel, else a preview with its lines. */
export const FileReference = ({ reference, text }: { reference: Reference; text: string }) => (
  <button
    type="button"
    className={styles.file}
    title={`Open ${reference.path}`}
    onClick={() => openFile(reference.path, reference.line)}
  >
    <code>{text}</code>
  </button>
);
