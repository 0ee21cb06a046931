import { type KeyboardEvent, useLayoutEffect, useMemo, useRef, useState } from "react";
import { hasEnded, type Thread } from "../../../client/index.ts";
import type { HunkRequest } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { plural } from "../../shared/format.ts";
import type { RewindPoint } from "../../shared/rewind-point.ts";
import ui from "../../shared/ui.module.css";
import { setPreferences, usePreferences } from "../../stores/preferences.ts";
import { showError, showToast } from "../../stores/toasts.ts";
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

/**
 * The task's changes, to accept or reject hunk by hunk: `j` and `k` move, `a` accepts, `r` rejects, `u` takes back the
 * last rejection. After each decision the focus goes to the next open hunk.
 */
export function Changes({ thread, wide, onRewind }: Props) {
  const service = useBrain();
  const { sideBySide } = usePreferences();
  const { files, missing, reload } = useDiff(thread);
  const region = useRef<HTMLElement>(null);
  const [busy, setBusy] = useState(false);
  const [undoSeq, setUndoSeq] = useState<number>();
  const focusNext = useRef<string>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the hunks are drawn anew
  useLayoutEffect(() => {
    const wanted = focusNext.current;
    if (wanted === undefined || region.current === null) return;
    focusNext.current = undefined;
    const hunks = [...region.current.querySelectorAll<HTMLElement>("[data-hunk]")];
    (hunks.find((hunk) => hunk.dataset["hunk"] === wanted) ?? hunks.at(-1) ?? region.current).focus();
  }, [files]);

  const decide = async (request: HunkRequest) => {
    const before = thread.lastSeq;
    const decided = new Set([...(request.accept ?? []), ...(request.reject ?? [])]);
    const inside = region.current?.contains(document.activeElement) ?? false;
    if (inside) focusNext.current = nextOpen(region.current!, decided);
    setBusy(true);
    try {
      const { conflicts = [] } = await service.hunks(thread.taskId, request);
      for (const { path, why } of conflicts) showError(new Error(`${path}: ${why}`));
      if (request.reject?.length) setUndoSeq(before);
      if ((request.reject?.length ?? 0) > 1)
        showToast(`Undid ${plural(request.reject!.length, "change")}.`, {
          action: { label: "Undo", run: () => void takeBack(before) },
        });
      reload();
    } catch (error) {
      showError(error);
    } finally {
      setBusy(false);
    }
  };
  /** Brings rejected changes back: the files as they were before. */
  const takeBack = async (seq: number) => {
    setUndoSeq(undefined);
    setBusy(true);
    try {
      await service.rewind(thread.taskId, seq, { conversation: false });
      reload();
    } catch (error) {
      showError(error);
    } finally {
      setBusy(false);
    }
  };
  const merge = async () => {
    setBusy(true);
    try {
      const { merged, conflicts } = await service.merge(thread.taskId);
      for (const { path, why } of conflicts) showError(new Error(`Nothing was merged. ${path}: ${why}`));
      if (merged) reload();
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
    else if (event.key === "u" && undoSeq !== undefined && !busy) void takeBack(undoSeq);
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
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <header className={styles.head}>
        <h2>Changes</h2>
        <span className={styles.sum}>
          {plural(shown.length, "file")} <ins>+{sum("added")}</ins> <del>−{sum("removed")}</del>
        </span>
        {thread.worktree !== undefined && (
          <>
            <span className={styles.sum} title={thread.worktree}>
              Worktree
            </span>
            {hasEnded(thread.status) && (
              <button type="button" className={ui.button} disabled={busy} onClick={() => void merge()}>
                Merge
              </button>
            )}
          </>
        )}
        <span className={styles.actions}>
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
        </span>
      </header>
      {pending.length > 0 && (
        <p className={styles.hints}>
          <kbd>j</kbd> <kbd>k</kbd> move <kbd>a</kbd> accept <kbd>r</kbd> reject <kbd>u</kbd> undo
        </p>
      )}
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

/** The first open hunk after those that were decided, else the first open one. */
function nextOpen(region: HTMLElement, decided: ReadonlySet<string>): string | undefined {
  const hunks = [...region.querySelectorAll<HTMLElement>("[data-hunk]")];
  const last = hunks.findLastIndex((hunk) => decided.has(hunk.dataset["hunk"]!));
  const open = (hunk: HTMLElement) => hunk.dataset["state"] === "pending" && !decided.has(hunk.dataset["hunk"]!);
  return (hunks.slice(last + 1).find(open) ?? hunks.find(open) ?? hunks[last])?.dataset["hunk"];
}
