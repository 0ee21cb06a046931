import { type Edit, notRewound, type Thread } from "../../../client/index.ts";
import { leaf, plural } from "../../shared/format.ts";
import { Icon } from "../../shared/icons.tsx";
import type { RewindPoint } from "../../shared/rewind-point.ts";
import ui from "../../shared/ui.module.css";
import styles from "./review.module.css";

/** The checkpoints that you can rewind to. */
export function Checkpoints({ thread, onRewind }: { thread: Thread; onRewind: (point: RewindPoint) => void }) {
  const points = checkpoints(thread);
  if (points.length === 0) return null;
  return (
    <details className={styles.checkpoints} open>
      <summary>
        <Icon name="chevron" /> Checkpoints
      </summary>
      <ol>
        {points.map((point) => (
          <li key={point.seq}>
            <span>{point.label}</span>
            <button type="button" className={ui.button} onClick={() => onRewind(point)}>
              <Icon name="rewind" /> Rewind
            </button>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Before the first change, and after each but the last; without changes that were rewound. */
function checkpoints({ edits, rewinds }: Thread): RewindPoint[] {
  const counts = notRewound(rewinds);
  const made = edits.filter((edit) => edit.before !== undefined && counts(edit.seq));
  const first = made[0]?.before;
  if (first === undefined) return [];
  const later = made.slice(0, -1).map((edit) => ({ seq: edit.seq, label: `after ${name(edit)}` }));
  return [{ seq: first, label: "before the first change" }, ...later];
}

const name = (edit: Edit): string =>
  edit.files.length === 1 ? leaf(edit.files[0]!.path) : plural(edit.files.length, "file");
