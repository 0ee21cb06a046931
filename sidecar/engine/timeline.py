"""Which of a task's records still count, after it was rewound, perhaps more than once.

A rewind to event S, told by event R, makes the task go on from S: what came between S and R no longer counts, what
comes after R does. Nothing is removed, so a rewind can be rewound.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sidecar.journal.port import Record
from sidecar.wire.base import Wire

REWIND = "rewind"


class RewoundTo(Wire):
    """What the record of a rewind says."""

    to: int


@dataclass(frozen=True, slots=True)
class Rewind:
    """To which event a task was rewound, and which event told of it."""

    to: int
    at: int


def rewinds(records: Sequence[Record]) -> list[Rewind]:
    return [
        Rewind(RewoundTo.model_validate_json(record.body).to, record.seq) for record in records if record.kind == REWIND
    ]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Spans of sequence numbers, each without its first and with its last; the last span is open."""

    spans: tuple[tuple[int, int | None], ...] = ((0, None),)
    #: How often the task was rewound: what is done anew after a rewind has a name of its own.
    branch: int = 0

    def holds(self, seq: int) -> bool:
        return any(after < seq and (last is None or seq <= last) for after, last in self.spans)

    @classmethod
    def of(cls, rewinds: Sequence[Rewind]) -> "Timeline":
        timeline = cls()
        for number, rewind in enumerate(rewinds, start=1):
            # What counted at that moment is what counted then, not what counts now.
            then = cls.of([earlier for earlier in rewinds[: number - 1] if earlier.at <= rewind.to])
            spans = [
                (after, rewind.to if last is None else min(last, rewind.to))
                for after, last in then.spans
                if after < rewind.to
            ]
            timeline = cls((*spans, (rewind.at, None)), number)
        return timeline


def branched(key: str, branch: int) -> str:
    return f"{key}~{branch}" if branch else key


def plain(key: str) -> str:
    return key.partition("~")[0]
