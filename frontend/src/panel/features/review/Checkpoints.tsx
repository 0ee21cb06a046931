import { counting, type Edit, type Thread } from "../../../client/index.ts";
import { Icon } from "../../shared/icons.tsx";
import type { Point } from "../../shared/point.ts";
import { leaf, plural } from "../../shared/words.ts";

/** Where the files can be taken back to: before the first change, and after each. */
export function Checkpoints({ thread, onBack }: { thread: Thread; onBack: (point: Point) => void }) {
  const points = checkpoints(thread);
  if (points.length === 0) return null;
  return (
    <details className="checkpoints" open>
      <summary>
        <Icon name="chevron" /> Checkpoints
      </summary>
      <ol>
        {points.map((point) => (
          <li key={point.seq}>
            <span>{point.label}</span>
            <button type="button" className="button" onClick={() => onBack(point)}>
              <Icon name="rewind" /> Rewind
            </button>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Before the first change, and after each but the last; only those that were not themselves taken back. */
function checkpoints({ edits, rewinds }: Thread): Point[] {
  const counts = counting(rewinds);
  const made = edits.filter((edit) => edit.before !== undefined && counts(edit.seq));
  const first = made[0]?.before;
  if (first === undefined) return [];
  const later = made.slice(0, -1).map((edit) => ({ seq: edit.seq, label: `after ${name(edit)}` }));
  return [{ seq: first, label: "before the first change" }, ...later];
}

const name = (edit: Edit): string =>
  edit.files.length === 1 ? leaf(edit.files[0]!.path) : plural(edit.files.length, "file");
