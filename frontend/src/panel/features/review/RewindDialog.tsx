import { useEffect, useState } from "react";
import { isActive, type Thread } from "../../../client/index.ts";
import type { RewoundFile } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import dialog from "../../shared/dialog.module.css";
import { Dialog } from "../../shared/dialog.tsx";
import type { RewindPoint } from "../../shared/rewind-point.ts";
import ui from "../../shared/ui.module.css";
import { showError, showToast } from "../../stores/toasts.ts";
import styles from "./review.module.css";

const MODES = {
  both: ["Files and conversation", "Everything after this point no longer counts."],
  files: ["Files only", "The conversation continues from where it is."],
  fork: ["Fork into a new task", "A new task starts from here; this one stays as it is."],
} as const;
type Mode = keyof typeof MODES;

interface Props {
  readonly thread: Thread;
  readonly point: RewindPoint;
  readonly onClose: () => void;
  /** Called with the id of the forked task. */
  readonly onFork: (taskId: string) => void;
}

/** Rewinds to a point or forks from it. Shows first what would change; every rewind can be undone. */
export function RewindDialog({ thread, point, onClose, onFork }: Props) {
  const service = useBrain();
  const { taskId } = thread;
  const active = isActive(thread.status);
  const [mode, setMode] = useState<Mode>(point.mode ?? "both");
  const [files, setFiles] = useState<readonly RewoundFile[]>();
  const [failure, setFailure] = useState("");
  const [instead, setInstead] = useState(point.text ?? "");
  const [keepFiles, setKeepFiles] = useState(false);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (active) return;
    let mounted = true;
    service.rewind(taskId, point.seq, { preview: true }).then(
      (answer) => mounted && setFiles(answer.files),
      (error: Error) => mounted && setFailure(error.message),
    );
    return () => {
      mounted = false;
    };
  }, [service, taskId, point.seq, active]);

  const rewind = async (conversation: boolean) => {
    const before = thread.lastSeq;
    await service.rewind(taskId, point.seq, { conversation });
    const undo = () => void service.rewind(taskId, before, { conversation }).catch(showError);
    showToast(`Rewound to ${point.label}.`, { action: { label: "Undo", run: undo } });
  };
  const confirm = async () => {
    setBusy(true);
    try {
      if (mode === "fork") {
        const text = instead.trim();
        onFork((await service.fork(taskId, { seq: point.seq, keepFiles, ...(text ? { task: text } : {}) })).id);
      } else {
        await rewind(mode === "both");
      }
      onClose();
    } catch (error) {
      showError(error);
      setBusy(false);
    }
  };
  return (
    <Dialog label={`Rewind to ${point.label}?`} onClose={onClose} titled>
      <fieldset className={styles.ways}>
        <legend className={ui.visuallyHidden}>What to rewind</legend>
        {(Object.keys(MODES) as Mode[]).map((name) => (
          <label key={name}>
            <input type="radio" name="mode" checked={mode === name} onChange={() => setMode(name)} />
            <span>
              {MODES[name][0]}
              <small>{MODES[name][1]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {mode === "fork" && (
        <>
          <textarea
            className={styles.instead}
            rows={2}
            aria-label="What to do instead"
            placeholder="Leave empty to repeat the rest of the task"
            value={instead}
            onChange={(event) => setInstead(event.target.value)}
          />
          <label className={styles.keep}>
            <input type="checkbox" checked={keepFiles} onChange={(event) => setKeepFiles(event.target.checked)} />
            Keep the files as they are
          </label>
        </>
      )}
      {active ? (
        <p className={ui.note} data-tone="warn">
          The task is running. Cancel it first; you can resume it later.
        </p>
      ) : (
        !(mode === "fork" && keepFiles) && <Preview files={files} failure={failure} />
      )}
      <p className={ui.hint}>Your own edits since then are merged or reported, never overwritten.</p>
      <footer className={dialog.foot}>
        <button type="button" className={ui.primary} disabled={busy || active} onClick={() => void confirm()}>
          {mode === "fork" ? "Fork" : "Rewind"}
        </button>
        <button type="button" className={ui.button} onClick={onClose}>
          Not now
        </button>
      </footer>
    </Dialog>
  );
}

function Preview({ files, failure }: { files: readonly RewoundFile[] | undefined; failure: string }) {
  if (failure)
    return (
      <p className={ui.note} data-tone="warn">
        {failure}
      </p>
    );
  if (files === undefined) return <p className={ui.hint}>Checking what would change…</p>;
  if (files.length === 0) return <p className={ui.hint}>No file would change.</p>;
  return (
    <ul className={styles.preview} aria-label="What would change">
      {files.map(({ path, change, why }) => (
        <li key={path}>
          <span className={styles.change} data-change={change}>
            {change}
          </span>{" "}
          <code>{path}</code> {why}
        </li>
      ))}
    </ul>
  );
}
