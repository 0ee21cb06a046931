import { useState } from "react";
import { counting, type Edit, isActive, type Thread } from "../../../client/index.ts";
import type { RewoundFile } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Dialog } from "../../shared/dialog.tsx";
import { Icon } from "../../shared/icons.tsx";
import { complain, say } from "../../shared/toasts.tsx";
import { leaf, plural } from "../../shared/words.ts";

interface Point {
  readonly seq: number;
  readonly label: string;
}

/** Where the task can be taken back to, with a look at what that would change. */
export function Checkpoints({ thread, onDone }: { thread: Thread; onDone: () => void }) {
  const service = useBrain();
  const [chosen, setChosen] = useState<Point & { readonly files: readonly RewoundFile[] }>();
  const active = isActive(thread.status);
  const choose = async (point: Point) => {
    try {
      const { files = [] } = await service.rewind(thread.taskId, point.seq, true);
      setChosen({ ...point, files });
    } catch (error) {
      complain(error);
    }
  };
  const rewind = async (point: Point) => {
    setChosen(undefined);
    const before = thread.lastSeq;
    try {
      await service.rewind(thread.taskId, point.seq);
      const undo = () => void service.rewind(thread.taskId, before).then(onDone, complain);
      say(`Taken back to ${point.label}.`, { action: { label: "Undo", run: undo } });
      onDone();
    } catch (error) {
      complain(error);
    }
  };
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
            <button
              type="button"
              className="button"
              disabled={active}
              title={active ? "Cancel the task first" : undefined}
              onClick={() => void choose(point)}
            >
              <Icon name="rewind" /> Rewind
            </button>
          </li>
        ))}
      </ol>
      {chosen && (
        <Dialog label={`Rewind to ${chosen.label}?`} onClose={() => setChosen(undefined)} titled>
          <p>
            Files and conversation go back to how they were then. What you edited yourself since is merged or reported,
            never overwritten, and this can be undone.
          </p>
          <ul className="preview">
            {chosen.files.map(({ path, change, why }) => (
              <li key={path}>
                <span className={`change change-${change}`}>{change}</span> <code>{path}</code> {why}
              </li>
            ))}
          </ul>
          <footer className="dialog-foot">
            <button type="button" className="button button-primary" onClick={() => void rewind(chosen)}>
              Rewind
            </button>
            <button type="button" className="button" onClick={() => setChosen(undefined)}>
              Keep everything
            </button>
          </footer>
        </Dialog>
      )}
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
