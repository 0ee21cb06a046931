import { type ReactNode, useEffect, useState } from "react";
import { isActive, type Thread } from "../../../client/index.ts";
import type { RewindAnswer } from "../../../wire/types.ts";
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
  // A fork has a dialog of its own; from a rewind you can still turn to it.
  const forks = point.mode === "fork";
  const [mode, setMode] = useState<Mode>(point.mode ?? "both");
  const [preview, setPreview] = useState<RewindAnswer>();
  const [done, setDone] = useState<RewindAnswer>();
  const [uncertain, setUncertain] = useState<readonly string[]>([]);
  const [failure, setFailure] = useState("");
  const [instead, setInstead] = useState(point.text ?? "");
  const [keepFiles, setKeepFiles] = useState(false);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (active) return;
    let mounted = true;
    service.rewind(taskId, point.seq, { preview: true }).then(
      (answer) => mounted && setPreview(answer),
      (error: Error) => mounted && setFailure(error.message),
    );
    return () => {
      mounted = false;
    };
  }, [service, taskId, point.seq, active]);

  const rewind = async (conversation: boolean) => {
    const before = thread.lastSeq;
    const answer = await service.rewind(taskId, point.seq, { conversation, uncertain: [...uncertain] });
    const undo = () => void service.rewind(taskId, before, { conversation }).catch(showError);
    showToast(`Rewound to ${point.label}. ${countRestored(answer)}`, { action: { label: "Undo", run: undo } });
    return answer;
  };
  const confirm = async () => {
    setBusy(true);
    try {
      if (mode === "fork") {
        const text = instead.trim();
        onFork((await service.fork(taskId, { seq: point.seq, keepFiles, ...(text ? { task: text } : {}) })).id);
      } else {
        const answer = await rewind(mode === "both");
        if (answer.conflicts.length + answer.notRestored.length > 0) {
          setDone(answer);
          return;
        }
      }
      onClose();
    } catch (error) {
      showError(error);
      setBusy(false);
    }
  };
  if (done !== undefined)
    return (
      <Dialog label={`Rewound to ${point.label}`} onClose={onClose} titled>
        <p className={ui.note} data-tone="warn">
          {countRestored(done)} These files are as they were before the rewind:
        </p>
        <FileRows label="Files left as they are" answer={{ ...done, files: [] }} />
        <footer className={dialog.foot}>
          <button type="button" className={ui.primary} onClick={onClose}>
            Close
          </button>
        </footer>
      </Dialog>
    );
  return (
    <Dialog label={`${forks ? "Fork from" : "Rewind to"} ${point.label}?`} onClose={onClose} titled>
      {forks && <p className={ui.hint}>{MODES.fork[1]}</p>}
      <fieldset className={styles.ways} hidden={forks}>
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
        !(mode === "fork" && keepFiles) && (
          <Preview answer={preview} failure={failure} uncertain={uncertain} onUncertain={setUncertain} />
        )
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

function countRestored({ files }: RewindAnswer): string {
  return files.length === 1 ? "1 file restored." : `${files.length || "No"} files restored.`;
}

interface Choice {
  /** The files of unknown author that you chose to restore too. */
  readonly uncertain: readonly string[];
  readonly onUncertain: (paths: readonly string[]) => void;
}

function Preview({ answer, failure, ...choice }: Choice & { answer: RewindAnswer | undefined; failure: string }) {
  if (failure)
    return (
      <p className={ui.note} data-tone="warn">
        {failure}
      </p>
    );
  if (answer === undefined) return <p className={ui.hint}>Checking what would change…</p>;
  if (answer.files.length + answer.conflicts.length + answer.notRestored.length === 0)
    return <p className={ui.hint}>No file would change.</p>;
  return <FileRows label="What would change" answer={answer} choice={choice} />;
}

function FileRows({ label, answer, choice }: { label: string; answer: RewindAnswer; choice?: Choice }) {
  return (
    <ul className={styles.preview} aria-label={label}>
      {answer.files.map(({ path, change }) => (
        <FileRow key={path} path={path} change={change} />
      ))}
      {answer.conflicts.map(({ path, why, uncertain }) => (
        <FileRow key={path} path={path} why={why}>
          {uncertain && choice && <RestoreToo path={path} {...choice} />}
        </FileRow>
      ))}
      {answer.notRestored.map(({ path, why }) => (
        <FileRow key={path} path={path} change="not restored" why={why} />
      ))}
    </ul>
  );
}

interface Row {
  readonly path: string;
  /** What a rewind does to it; `why` says it otherwise. */
  readonly change?: string;
  readonly why?: string;
  readonly children?: ReactNode;
}

function FileRow({ path, change, why, children }: Row) {
  return (
    <li>
      {change && (
        <span className={styles.change} data-change={change}>
          {change}
        </span>
      )}{" "}
      <code>{path}</code> {why} {children}
    </li>
  );
}

function RestoreToo({ path, uncertain, onUncertain }: Choice & { path: string }) {
  const chosen = uncertain.includes(path);
  return (
    <label className={styles.keep}>
      <input
        type="checkbox"
        checked={chosen}
        onChange={() => onUncertain(chosen ? uncertain.filter((one) => one !== path) : [...uncertain, path])}
      />
      Restore it too
    </label>
  );
}
