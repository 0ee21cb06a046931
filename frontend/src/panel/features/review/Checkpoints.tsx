import { useState } from "react";
import type { Edit, Thread } from "../../../client/index.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Dialog } from "../../shared/dialog.tsx";
import { Icon } from "../../shared/icons.tsx";
import { complain, say } from "../../shared/toasts.tsx";
import { leaf, plural } from "../../shared/words.ts";

interface Point {
  readonly seq: number;
  readonly label: string;
  /** What would be undone. */
  readonly after: readonly Edit[];
}

/** Where the task can be taken back to, with what that would change. */
export function Checkpoints({ thread, onDone }: { thread: Thread; onDone: () => void }) {
  const service = useBrain();
  const [chosen, setChosen] = useState<Point>();
  const rewind = async (point: Point) => {
    setChosen(undefined);
    const before = thread.lastSeq;
    try {
      await service.rewind(thread.taskId, point.seq);
      const undo = () => void service.rewind(thread.taskId, before).then(onDone, complain);
      say(`Taken back: ${point.label}.`, { action: { label: "Undo", run: undo } });
      onDone();
    } catch (error) {
      complain(error);
    }
  };
  return (
    <details className="checkpoints" open>
      <summary>
        <Icon name="chevron" /> Checkpoints
      </summary>
      <ol>
        {points(thread.edits).map((point) => (
          <li key={point.seq}>
            <span>{point.label}</span>
            <button type="button" className="button" onClick={() => setChosen(point)}>
              <Icon name="rewind" /> Rewind
            </button>
          </li>
        ))}
      </ol>
      {chosen && (
        <Dialog label={`Rewind to ${chosen.label}?`} onClose={() => setChosen(undefined)} titled>
          <p>
            Files and conversation go back to how they were then. What you edited yourself since is merged or reported,
            never overwritten.
          </p>
          <ul className="preview">
            {files(chosen.after).map((path) => (
              <li key={path}>
                <code>{path}</code>
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

function points(edits: readonly Edit[]): Point[] {
  const first = edits[0];
  if (first === undefined) return [];
  const last = edits.length - 1;
  const start: Point = { seq: first.before, label: "before the first change", after: edits };
  return [
    start,
    ...edits
      .slice(0, last)
      .map((edit, place) => ({ seq: edit.seq, label: `after ${name(edit)}`, after: edits.slice(place + 1) })),
  ];
}

const name = (edit: Edit): string =>
  edit.files.length === 1 ? leaf(edit.files[0]!.path) : plural(edit.files.length, "file");
const files = (edits: readonly Edit[]): string[] => [
  ...new Set(edits.flatMap((edit) => edit.files.map((file) => file.path))),
];
