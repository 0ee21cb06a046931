import { useEffect, useState } from "react";
import { isActive, type Thread } from "../../../client/index.ts";
import type { RewoundFile } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Dialog } from "../../shared/dialog.tsx";
import type { Point } from "../../shared/point.ts";
import { complain, say } from "../../shared/toasts.tsx";

const WAYS = {
  both: ["Files and conversation", "Both go back to how they were then. What came after no longer counts."],
  files: ["Files alone", "The conversation stays, and goes on from where it is."],
  fork: ["In a new task", "A new task begins from there, with other words if you like; this one is kept."],
} as const;
type Way = keyof typeof WAYS;

interface Props {
  readonly thread: Thread;
  readonly point: Point;
  readonly onClose: () => void;
  readonly onDone: () => void;
  /** A task was forked. */
  readonly onFork: (taskId: string) => void;
}

/** Back to a checkpoint: what that changes is shown first, and every way of it can be undone. */
export function GoBack({ thread, point, onClose, onDone, onFork }: Props) {
  const service = useBrain();
  const { taskId } = thread;
  const active = isActive(thread.status);
  const [way, setWay] = useState<Way>(point.way ?? "both");
  const [files, setFiles] = useState<readonly RewoundFile[]>();
  const [refusal, setRefusal] = useState("");
  const [instead, setInstead] = useState(point.words ?? "");
  const [keepFiles, setKeepFiles] = useState(false);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (active) return;
    let wanted = true;
    service.rewind(taskId, point.seq, { preview: true }).then(
      (answer) => wanted && setFiles(answer.files),
      (error: Error) => wanted && setRefusal(error.message),
    );
    return () => {
      wanted = false;
    };
  }, [service, taskId, point.seq, active]);

  const rewind = async (conversation: boolean) => {
    const before = thread.lastSeq;
    await service.rewind(taskId, point.seq, { conversation });
    const undo = () => void service.rewind(taskId, before, { conversation }).then(onDone, complain);
    say(`Taken back to ${point.label}.`, { action: { label: "Undo", run: undo } });
    onDone();
  };
  const go = async () => {
    setBusy(true);
    try {
      if (way === "fork") {
        const text = instead.trim();
        onFork((await service.fork(taskId, { seq: point.seq, keepFiles, ...(text ? { task: text } : {}) })).id);
      } else {
        await rewind(way === "both");
      }
      onClose();
    } catch (error) {
      complain(error);
      setBusy(false);
    }
  };
  return (
    <Dialog label={`Rewind to ${point.label}?`} className="go-back" onClose={onClose} titled>
      <fieldset className="ways">
        <legend className="hidden">What goes back</legend>
        {(Object.keys(WAYS) as Way[]).map((name) => (
          <label key={name}>
            <input type="radio" name="way" checked={way === name} onChange={() => setWay(name)} />
            <span>
              {WAYS[name][0]}
              <small>{WAYS[name][1]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {way === "fork" && (
        <>
          <textarea
            className="go-back-instead"
            rows={2}
            aria-label="What to do instead"
            placeholder="What to do instead; empty to do the rest once more"
            value={instead}
            onChange={(event) => setInstead(event.target.value)}
          />
          <label className="go-back-keep">
            <input type="checkbox" checked={keepFiles} onChange={(event) => setKeepFiles(event.target.checked)} />
            Leave the files as they are
          </label>
        </>
      )}
      {active ? (
        <p className="note note-warn">The task is at work. Cancel it first; it can be resumed afterwards.</p>
      ) : (
        !(way === "fork" && keepFiles) && <Preview files={files} refusal={refusal} />
      )}
      <p className="settings-note">What you edited yourself since is merged or reported, never overwritten.</p>
      <footer className="dialog-foot">
        <button type="button" className="button button-primary" disabled={busy || active} onClick={() => void go()}>
          {way === "fork" ? "Fork" : "Rewind"}
        </button>
        <button type="button" className="button" onClick={onClose}>
          Keep everything
        </button>
      </footer>
    </Dialog>
  );
}

function Preview({ files, refusal }: { files: readonly RewoundFile[] | undefined; refusal: string }) {
  if (refusal) return <p className="note note-warn">{refusal}</p>;
  if (files === undefined) return <p className="settings-note">Looking at what would change…</p>;
  if (files.length === 0) return <p className="settings-note">No file would change.</p>;
  return (
    <ul className="preview" aria-label="What would change">
      {files.map(({ path, change, why }) => (
        <li key={path}>
          <span className={`change change-${change}`}>{change}</span> <code>{path}</code> {why}
        </li>
      ))}
    </ul>
  );
}
