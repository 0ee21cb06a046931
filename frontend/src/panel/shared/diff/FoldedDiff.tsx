import { memo, useState } from "react";
import { plural } from "../format.ts";
import { revealHidden } from "../text.ts";
import ui from "../ui.module.css";
import styles from "./HunkLines.module.css";
import { HunkLines } from "./HunkLines.tsx";
import { filesOf } from "./parse.ts";

/** How many lines of a diff are shown at first. */
const SHOWN = 24;

/** A diff of one or several files; a long one shows its beginning until you ask for the rest. */
export const FoldedDiff = memo(function FoldedDiff({ diff }: { diff: string }) {
  const [whole, setWhole] = useState(false);
  const files = filesOf(diff);
  const total = files.reduce((sum, file) => sum + file.hunks.reduce((lines, hunk) => lines + hunk.lines.length, 0), 0);
  let left = whole ? Number.POSITIVE_INFINITY : SHOWN;
  return (
    <div className={styles.folded}>
      {files.map((file) => {
        if (left <= 0) return null;
        return (
          <div key={file.path}>
            {files.length > 1 && <code className={styles.path}>{revealHidden(file.path)}</code>}
            {file.hunks.map((hunk) => {
              const lines = hunk.lines.slice(0, Math.max(0, left));
              left -= lines.length;
              return lines.length > 0 && <HunkLines key={hunk.id} hunk={{ ...hunk, lines }} language={file.path} />;
            })}
          </div>
        );
      })}
      {!whole && total > SHOWN && (
        <button type="button" className={ui.plain} onClick={() => setWhole(true)}>
          Show {plural(total - SHOWN, "more line")}
        </button>
      )}
    </div>
  );
});
