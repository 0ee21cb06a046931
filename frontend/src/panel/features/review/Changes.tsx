import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import type { Thread } from "../../../client/index.ts";
import type { HunkRequest } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import type { Point } from "../../shared/point.ts";
import { prefer, usePreferences } from "../../shared/preferences.ts";
import { complain } from "../../shared/toasts.tsx";
import { plural } from "../../shared/words.ts";
import { Checkpoints } from "./Checkpoints.tsx";
import { ChangedFile, isPending } from "./FileReview.tsx";
import { toldFiles } from "./told.ts";
import { useDiff } from "./useDiff.ts";

interface Props {
  readonly thread: Thread;
  /** There is room for what was beside what is. */
  readonly wide: boolean;
  readonly onGoing: () => void;
  readonly onBack: (point: Point) => void;
}

/** What the task changed, to be taken or given back piece by piece: `j` `k` walk, `a` accepts, `r` rejects. */
export function Changes({ thread, wide, onGoing, onBack }: Props) {
  const service = useBrain();
  const { sideBySide } = usePreferences();
  const { files, missing, look } = useDiff(thread);
  const region = useRef<HTMLElement>(null);
  const [busy, setBusy] = useState(false);

  const decide = async (decided: HunkRequest) => {
    setBusy(true);
    try {
      const { conflicts = [] } = await service.hunks(thread.taskId, decided);
      for (const { path, why } of conflicts) complain(new Error(`${path}: ${why ?? "it was left as it is"}`));
      look();
      onGoing();
    } catch (error) {
      complain(error);
    } finally {
      setBusy(false);
    }
  };
  const walk = (event: KeyboardEvent) => {
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: only an edit changes what was told of edits
  const told = useMemo(() => toldFiles(thread), [thread.taskId, thread.edits]);
  // Where the sidecar answers, its word counts, also that nothing is left.
  const decidable = files !== undefined;
  const shown = decidable ? files : told;
  if (shown.length === 0 && (told.length === 0 || !decidable)) return null;
  const pending = decidable ? files.flatMap((file) => file.hunks.filter(isPending).map((hunk) => hunk.id)) : [];
  const sum = (key: "added" | "removed") => shown.reduce((before, file) => before + file[key], 0);
  const brief = shown.every((file) => file.hunks.length === 0);
  return (
    <section ref={region} className={`changes ${brief ? "changes-brief" : ""}`} aria-label="Changes" onKeyDown={walk}>
      <header className="changes-head">
        <h2>Changes</h2>
        <span className="changes-sum">
          {plural(shown.length, "file")} <ins>+{sum("added")}</ins> <del>−{sum("removed")}</del>
        </span>
        {pending.length > 0 && (
          <>
            <button type="button" className="button" disabled={busy} onClick={() => void decide({ accept: pending })}>
              Keep all
            </button>
            <button type="button" className="button" disabled={busy} onClick={() => void decide({ reject: pending })}>
              Undo all
            </button>
          </>
        )}
        {wide && !brief && (
          <button
            type="button"
            className="button button-plain"
            aria-pressed={sideBySide}
            onClick={() => prefer({ sideBySide: !sideBySide })}
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
      {shown.length === 0 && <p className="file-note">Nothing that it changed is left.</p>}
      {!missing && files !== undefined && <Checkpoints thread={thread} onBack={onBack} />}
    </section>
  );
}
