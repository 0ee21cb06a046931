import { memo } from "react";
import type { FileDiff, Hunk, HunkRequest } from "../../../wire/types.ts";
import { HunkLines } from "../../shared/diff/HunkLines.tsx";
import { openInEditor, useHostOffers } from "../../shared/host-port.ts";
import { Icon } from "../../shared/icons.tsx";

interface Props {
  readonly file: FileDiff;
  readonly split: boolean;
  readonly busy: boolean;
  /** Undefined where the changes can only be looked at. */
  readonly onDecide: ((decided: HunkRequest) => Promise<void>) | undefined;
}

export const isPending = (hunk: Hunk): boolean => (hunk.state ?? "pending") === "pending";

export const ChangedFile = memo(function ChangedFile({ file, split, busy, onDecide }: Props) {
  const openable = useHostOffers("openFile");
  const pending = file.hunks.filter(isPending).map((hunk) => hunk.id);
  return (
    <details className="file" open>
      <summary className="file-head">
        <Icon name="chevron" />
        <span className={`change change-${file.change}`}>{file.change}</span>
        <span className="file-path">{file.path}</span>
        <ins>+{file.added}</ins> <del>−{file.removed}</del>
      </summary>
      <div className="file-tools">
        {openable && (
          <button type="button" className="button button-plain" onClick={() => openInEditor(file.path)}>
            <Icon name="open" /> Open in editor
          </button>
        )}
        {onDecide && pending.length > 1 && (
          <>
            <button
              type="button"
              className="button button-plain"
              disabled={busy}
              onClick={() => void onDecide({ accept: pending })}
            >
              Keep file
            </button>
            <button
              type="button"
              className="button button-plain"
              disabled={busy}
              onClick={() => void onDecide({ reject: pending })}
            >
              Undo file
            </button>
          </>
        )}
      </div>
      {file.note && <p className="file-note">{file.note}</p>}
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
      className={`hunk hunk-${state}`}
      data-hunk={hunk.id}
      tabIndex={-1}
      role="group"
      aria-label={`${path} ${hunk.header}`}
    >
      <div className="hunk-head">
        <code>{hunk.header}</code>
        {state === "pending" && onDecide ? (
          <>
            <button
              type="button"
              className="button"
              disabled={busy}
              onClick={() => void onDecide({ accept: [hunk.id] })}
            >
              Accept
            </button>
            <button
              type="button"
              className="button"
              disabled={busy}
              onClick={() => void onDecide({ reject: [hunk.id] })}
            >
              Reject
            </button>
          </>
        ) : (
          onDecide && <span className="tag">{state}</span>
        )}
      </div>
      {state !== "rejected" && <HunkLines hunk={hunk} language={path} split={split} />}
    </div>
  );
}
