import { memo } from "react";
import type { FileDiff, Hunk, HunkRequest } from "../../../wire/types.ts";
import { HunkLines } from "../../shared/diff/HunkLines.tsx";
import { Icon } from "../../shared/icons.tsx";
import ui from "../../shared/ui.module.css";
import { openInEditor, useHostOffers } from "../../stores/host.ts";
import styles from "./review.module.css";

interface Props {
  readonly file: FileDiff;
  readonly split: boolean;
  readonly busy: boolean;
  /** Undefined if the changes can't be decided. */
  readonly onDecide: ((request: HunkRequest) => Promise<void>) | undefined;
}

export const isPending = (hunk: Hunk): boolean => (hunk.state ?? "pending") === "pending";

export const ChangedFile = memo(function ChangedFile({ file, split, busy, onDecide }: Props) {
  const openable = useHostOffers("openFile");
  const pending = file.hunks.filter(isPending).map((hunk) => hunk.id);
  return (
    <details className={styles.file} open>
      <summary className={styles.fileHead}>
        <Icon name="chevron" />
        <span className={styles.change} data-change={file.change}>
          {file.change}
        </span>
        <span className={styles.path}>{file.path}</span>
        <ins>+{file.added}</ins> <del>−{file.removed}</del>
      </summary>
      <div className={styles.fileActions}>
        {openable && (
          <button type="button" className={ui.plain} onClick={() => openInEditor(file.path)}>
            <Icon name="open" /> Open in editor
          </button>
        )}
        {onDecide && pending.length > 1 && (
          <>
            <button
              type="button"
              className={ui.plain}
              disabled={busy}
              onClick={() => void onDecide({ accept: pending })}
            >
              Keep file
            </button>
            <button
              type="button"
              className={ui.plain}
              disabled={busy}
              onClick={() => void onDecide({ reject: pending })}
            >
              Undo file
            </button>
          </>
        )}
      </div>
      {file.note && <p className={styles.fileNote}>{file.note}</p>}
      {file.hunks.map((hunk) => (
        <HunkReview key={hunk.id} hunk={hunk} path={file.path} split={split} busy={busy} onDecide={onDecide} />
      ))}
    </details>
  );
});

interface HunkProps extends Omit<Props, "file"> {
  readonly hunk: Hunk;
  readonly path: string;
}

function HunkReview({ hunk, path, split, busy, onDecide }: HunkProps) {
  const state = hunk.state ?? "pending";
  return (
    <div
      className={styles.hunk}
      data-state={state}
      data-hunk={hunk.id}
      tabIndex={-1}
      role="group"
      aria-label={`${path} ${hunk.header}`}
    >
      <div className={styles.hunkHead}>
        <code>{hunk.header}</code>
        {state === "pending" && onDecide ? (
          <>
            <button
              type="button"
              className={ui.button}
              disabled={busy}
              onClick={() => void onDecide({ accept: [hunk.id] })}
            >
              Accept
            </button>
            <button
              type="button"
              className={ui.button}
              disabled={busy}
              onClick={() => void onDecide({ reject: [hunk.id] })}
            >
              Reject
            </button>
          </>
        ) : (
          onDecide && <span className={ui.tag}>{state}</span>
        )}
      </div>
      {state !== "rejected" && <HunkLines hunk={hunk} language={path} split={split} />}
    </div>
  );
}
