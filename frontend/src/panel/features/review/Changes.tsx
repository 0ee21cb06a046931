import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import type { Thread } from "../../../client/index.ts";
import type { HunkRequest } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { plural } from "../../shared/format.ts";
import type { RewindPoint } from "../../shared/rewind-point.ts";
import ui from "../../shared/ui.module.css";
import { setPreferences, usePreferences } from "../../stores/preferences.ts";
import { showError } from "../../stores/toasts.ts";
import { Checkpoints } from "./Checkpoints.tsx";
import { filesFromCalls } from "./call-diffs.ts";
import { ChangedFile, isPending } from "./FileReview.tsx";
import styles from "./review.module.css";
import { useDiff } from "./useDiff.ts";

interface Props {
  readonly thread: Thread;
  /** There is room for a side-by-side diff. */
  readonly wide: boolean;
  readonly onRewind: (point: RewindPoint) => void;
}

/** The task's changes, to accept or reject hunk by hunk: `j` and `k` move, `a` accepts, `r` rejects. */
export function Changes({ thread, wide, onRewind }: Props) {
  const service = useBrain();
  const { sideBySide } = usePreferences();
  const { files, missing, reload } = useDiff(thread);
  const region = useRef<HTMLElement>(null);
  const [busy, setBusy] = useState(false);

  const decide = async (request: HunkRequest) => {
    setBusy(true);
    try {
      const { conflicts = [] } = await service.hunks(thread.taskId, request);
      for (const { path, why } of conflicts) showError(new Error(`${path}: ${why}`));
      reload();
    } catch (error) {
      showError(error);
    } finally {
      setBusy(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
    const hunks = [...(region.current?.querySelectorAll<HTMLElement>("[data-hunk]") ?? [])];
    const place = hunks.findIndex((hunk) => hunk.contains(document.activeElement));
    const step = { j: 1, k: -1 }[event.key];
    const id = hunks[place]?.dataset["hunk"];
    if (step !== undefined) hunks[Math.max(0, Math.min(hunks.length - 1, place + step))]?.focus();
    else if (event.key === "a" && id && !busy) void decide({ accept: [id] });
    else if (event.key === "r" && id && !busy) void decide({ reject: [id] });
    else return;
    event.preventDefault();
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: only an edit changes the result
  const reported = useMemo(() => filesFromCalls(thread), [thread.taskId, thread.edits]);
  // The sidecar's diff takes precedence, also if it is empty.
  const decidable = files !== undefined;
  const shown = decidable ? files : reported;
  if (shown.length === 0 && (reported.length === 0 || !decidable)) return null;
  const pending = decidable ? files.flatMap((file) => file.hunks.filter(isPending).map((hunk) => hunk.id)) : [];
  const sum = (key: "added" | "removed") => shown.reduce((before, file) => before + file[key], 0);
  const brief = shown.every((file) => file.hunks.length === 0);
  return (
    <section
      ref={region}
      className={styles.changes}
      data-brief={brief || undefined}
      data-inline={!wide || undefined}
      aria-label="Changes"
      onKeyDown={onKeyDown}
    >
      <header className={styles.head}>
        <h2>Changes</h2>
        <span className={styles.sum}>
          {plural(shown.length, "file")} <ins>+{sum("added")}</ins> <del>−{sum("removed")}</del>
        </span>
        {pending.length > 0 && (
          <>
            <button
              type="button"
              className={ui.button}
              disabled={busy}
              onClick={() => void decide({ accept: pending })}
            >
              Keep all
            </button>
            <button
              type="button"
              className={ui.button}
              disabled={busy}
              onClick={() => void decide({ reject: pending })}
            >
              Undo all
            </button>
          </>
        )}
        {wide && !brief && (
          <button
            type="button"
            className={ui.plain}
            aria-pressed={sideBySide}
            onClick={() => setPreferences({ sideBySide: !sideBySide })}
          >
            Side by side
          </button>
        )}
      </header>
      {shown.map((file) => (
        <ChangedFile
          key={file.path}
          file={file}
          split={wide && sideBySide}
          busy={busy}
          onDecide={decidable ? decide : undefined}
        />
      ))}
      {shown.length === 0 && <p className={styles.fileNote}>All changes undone.</p>}
      {!missing && files !== undefined && <Checkpoints thread={thread} onRewind={onRewind} />}
    </section>
  );
}
