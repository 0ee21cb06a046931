"""A task's changes of files, read from its records: each file's changes in order, as of any event."""

import stat
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from sidecar.engine.state import RecordKind, read_rewinds
from sidecar.engine.steps import is_undo
from sidecar.engine.timeline import Timeline
from sidecar.journal.port import Record
from tools.ledger import FileState, IntentRecord, IrreversibleChange, Outcome
from tools.paths import normalize, parents


class Side(NamedTuple):
    """A file before or after a change: the digest of its content, and its mode if known."""

    content: str
    mode: int | None


class FileStep(NamedTuple):
    """One change of one file; `None` is a file that does not exist."""

    seq: int
    path: str
    before: Side | None
    after: Side | None
    #: Why it isn't known that the task changed it, or only the task; empty if it is.
    doubt: str = ""
    #: How many folders around it were created with it.
    folders: int = 0


class Hop(NamedTuple):
    """One change to make: the file becomes `to` where it was `source`. Your own edits in between stay."""

    source: Side | None
    to: Side | None


class ChangingCall(NamedTuple):
    """A call of the task that changed files: its outcome's event, the last event before it, and the files."""

    seq: int
    before: int
    paths: Sequence[str]


class FileHistory:
    def __init__(self, records: Sequence[Record], workspace: str) -> None:
        self._rewinds = read_rewinds(records)
        self._steps: dict[str, list[FileStep]] = {}
        self._unkept: list[tuple[int, IrreversibleChange]] = []
        self._timelines: dict[int | None, Timeline] = {}
        #: Each call of the task that changed files.
        self._calls: list[ChangingCall] = []
        for seq, outcome, intent, began in _settled(records):
            planned = intent.files if intent is not None and outcome.status == "success" else []
            paths = []
            for file in (*planned, *outcome.files):
                path = normalize(file.path, workspace)  # earlier versions recorded it as the model wrote it
                self._steps.setdefault(path, []).append(_step(seq, path, file))
                paths.append(path)
            if began is not None and (paths or outcome.irreversible):
                self._calls.append(ChangingCall(seq, began - 1, paths))
            self._unkept += [(seq, each) for each in outcome.irreversible]

    def before_last_change(self) -> int | None:
        """The last event before the newest call with a change left to undo; `None` if there is no such call.

        A call that changed only what can't be restored, such as an ignored file, counts if there is no other.
        """
        timeline = self._timeline(None)
        held = [call for call in reversed(self._calls) if timeline.holds(call.seq)]
        undoable = (call for call in held if any(self.hops(path, call.before) for path in call.paths))
        lost = (call for call in held if self.unkept(call.before))
        found = next(undoable, None) or next(lost, None)
        return None if found is None else found.before

    def paths(self) -> list[str]:
        return list(self._steps)

    def state(self, path: str, seq: int | None = None) -> Side | None:
        """The file as the task left it at that event, or now."""
        held = self._held(path, seq)
        return held[-1].after if held else self._steps[path][0].before

    def hops(self, path: str, seq: int) -> list[Hop]:
        """The changes from the file as the task left it to how it was at that event."""
        back, forth = self._way(path, seq)
        return _join(
            [
                *(Hop(step.after, step.before) for step in reversed(back)),
                *(Hop(step.before, step.after) for step in forth),
            ]
        )

    def doubt(self, path: str, seq: int = 0) -> str:
        """Why it isn't known that the task made the changes since that event; empty if it is."""
        back, forth = self._way(path, seq)
        return next((step.doubt for step in (*back, *forth) if step.doubt), "")

    def folders(self, seq: int) -> set[str]:
        """The folders that the task made for files since that event, whatever became of the files."""
        return {
            folder
            for path, steps in self._steps.items()
            if any(step.folders for step in steps)
            for step in self._way(path, seq)[0]
            for folder in islice(parents(path), step.folders)
        }

    def left(self, paths: Collection[str], seq: int) -> list[FileState]:
        """The changes that stay in files which a rewind to that event leaves alone: from how they were, to now."""
        return [
            file_state(path, hop.to, hop.source, self.doubt(path, seq))
            for path in paths
            if path in self._steps
            for hop in reversed(self.hops(path, seq))
        ]

    def _way(self, path: str, seq: int) -> tuple[list[FileStep], list[FileStep]]:
        """The steps to undo, and those to redo, to get from now to that event."""
        now, then = self._held(path), self._held(path, seq)
        same = 0
        while same < min(len(now), len(then)) and now[same].seq == then[same].seq:
            same += 1
        return now[same:], then[same:]

    def unkept(self, seq: int = 0) -> list[IrreversibleChange]:
        """Changes of commands since that event that count now and can't be restored."""
        now, then = self._timeline(None), self._timeline(seq)
        found = {each.path: each for at, each in self._unkept if now.holds(at) != (at <= seq and then.holds(at))}
        return list(found.values())

    def _timeline(self, seq: int | None) -> Timeline:
        if seq not in self._timelines:
            counted = [rewind for rewind in self._rewinds if seq is None or rewind.at <= seq]
            self._timelines[seq] = Timeline.of(counted)
        return self._timelines[seq]

    def _held(self, path: str, seq: int | None = None) -> list[FileStep]:
        timeline = self._timeline(seq)
        return _with_modes(
            [step for step in self._steps[path] if timeline.holds(step.seq) and (seq is None or step.seq <= seq)]
        )


def file_state(path: str, before: Side | None, after: Side | None, doubt: str = "") -> FileState:
    return FileState(
        path=path,
        before=before.content if before else None,
        after=after.content if after else None,
        mode=after.mode if after else before.mode if before else None,
        was=before.mode if before else None,
        doubt=doubt or None,
    )


def _settled(records: Sequence[Record]) -> Iterator[tuple[int, Outcome, IntentRecord | None, int | None]]:
    """Outcomes with their intent records, and for calls of the task itself the events at which they began."""
    intents: dict[str, tuple[IntentRecord, int]] = {}
    for record in records:
        if record.kind == RecordKind.INTENT:
            intents[record.key] = IntentRecord.model_validate_json(record.body), record.seq
        elif record.kind == RecordKind.OUTCOME:
            intent, began = intents.get(record.key, (None, None))
            own = not is_undo(record.key)
            yield record.seq, Outcome.model_validate_json(record.body), intent, began if own else None


def _step(seq: int, path: str, file: FileState) -> FileStep:
    """A planned change has one mode, of a file that it creates or deletes; a scanned one has both."""
    was = file.was if file.was is not None or file.after is not None else file.mode
    mode = file.mode if file.before is None or file.was is not None else None
    before = None if file.before is None else Side(file.before, was)
    after = None if file.after is None else Side(file.after, mode)
    return FileStep(seq, path, before, after, file.doubt or "", file.folders or 0)


def _with_modes(steps: list[FileStep]) -> list[FileStep]:
    """An edit keeps the mode, so a mode known at one step holds for its neighbours until something changes it."""
    for forward in (True, False):
        known: int | None = None
        places = range(len(steps)) if forward else reversed(range(len(steps)))
        for place in places:
            step = steps[place]
            sides = (step.before, step.after) if forward else (step.after, step.before)
            filled: list[Side | None] = []
            for side in sides:
                known = None if side is None else side.mode if side.mode is not None else known
                filled.append(None if side is None else Side(side.content, known))
            before, after = filled if forward else reversed(filled)
            steps[place] = step._replace(before=before, after=after)
    return steps


def _join(hops: Sequence[Hop]) -> list[Hop]:
    """Join hops between which no one else changed the file; drop those that change nothing."""
    joined: list[Hop] = []
    for hop in hops:
        if joined and _same(joined[-1].to, hop.source) and not _was_link(joined[-1], hop):
            joined[-1] = Hop(joined[-1].source, hop.to)
        else:
            joined.append(hop)
    return [hop for hop in joined if not _is_empty_hop(hop)]


def _was_link(hop: Hop, following: Hop) -> bool:
    """Whether a file without a known mode takes the place of a link, whose mode it must not keep."""
    linked = hop.source is not None and stat.S_ISLNK(hop.source.mode or 0)
    return linked and hop.to is None and following.to is not None and following.to.mode is None


def _is_empty_hop(hop: Hop) -> bool:
    if hop.source is None or hop.to is None:
        return hop.source is hop.to
    return hop.source.content == hop.to.content and hop.to.mode in (None, hop.source.mode)


def _same(one: Side | None, other: Side | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.content == other.content and (one.mode == other.mode or None in (one.mode, other.mode))
