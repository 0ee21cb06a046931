"""What a task did to files, read from its records: each file's states, in order, at any moment of its life."""

from collections.abc import Sequence
from dataclasses import dataclass

from sidecar.engine.memory import Kind
from sidecar.engine.timeline import Timeline, rewinds
from sidecar.journal.port import Record
from tools.ledger import Intent, Outcome


@dataclass(frozen=True, slots=True)
class FileStep:
    """One change of one file: the hashes before and after; `None` is a file that does not exist."""

    seq: int
    path: str
    before: str | None
    after: str | None
    mode: int | None


class FileHistory:
    def __init__(self, records: Sequence[Record]) -> None:
        self._rewinds = rewinds(records)
        self._steps = list(_steps(records))

    def paths(self) -> list[str]:
        return list(dict.fromkeys(step.path for step in self._steps))

    def base(self, path: str) -> str | None:
        """The file before the task first touched it."""
        return next(step.before for step in self._steps if step.path == path)

    def state(self, path: str, seq: int | None = None) -> str | None:
        """The file as the task had left it at that event, or now."""
        last = self._last(path, seq)
        return self.base(path) if last is None else last.after

    def mode(self, path: str, seq: int | None = None) -> int | None:
        """Needed where a file has to be made again: a change keeps the mode, only a deletion takes it away."""
        last = self._last(path, seq)
        if last is not None and last.mode is not None:
            return last.mode
        return next((step.mode for step in self._steps if step.path == path and step.after is None), None)

    def changed(self) -> list[str]:
        return [path for path in self.paths() if self.base(path) != self.state(path)]

    def _last(self, path: str, seq: int | None) -> FileStep | None:
        counted = [rewind for rewind in self._rewinds if seq is None or rewind.at <= seq]
        timeline = Timeline.of(counted)
        steps = [
            step
            for step in self._steps
            if step.path == path and timeline.holds(step.seq) and (seq is None or step.seq <= seq)
        ]
        return steps[-1] if steps else None


def _steps(records: Sequence[Record]) -> list[FileStep]:
    intents: dict[str, Intent] = {}
    steps = []
    for record in records:
        if record.kind == Kind.INTENT:
            intents[record.key] = Intent.model_validate_json(record.body)
        elif record.kind == Kind.OUTCOME and _succeeded(record):
            files = intents[record.key].files if record.key in intents else []
            steps += [FileStep(record.seq, file.path, file.before, file.after, file.mode) for file in files]
    return steps


def _succeeded(outcome: Record) -> bool:
    return Outcome.model_validate_json(outcome.body).status == "success"
