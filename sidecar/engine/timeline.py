"""Which events of a task still count after rewinds. Pure, and cheap to import: the command line uses it too.

A rewind to event S, recorded by event R, makes the task go on from S: events between S and R no longer count, events
after R do. Nothing is removed, so a rewind can be rewound.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple


class Rewind(NamedTuple):
    """The event to which a task was rewound, and the event that recorded it."""

    to: int
    at: int


class Timeline(NamedTuple):
    """Spans of event numbers, each without its first and with its last; the last span is open."""

    spans: tuple[tuple[int, int | None], ...] = ((0, None),)
    #: How often the task was rewound; keys of what is done again contain it.
    branch: int = 0

    def holds(self, seq: int) -> bool:
        return any(after < seq and (last is None or seq <= last) for after, last in self.spans)

    @classmethod
    def of(cls, rewinds: Sequence[Rewind]) -> "Timeline":
        # After each of the rewinds; computing an earlier one again would double the work with each rewind.
        timelines = [cls()]
        for number, rewind in enumerate(rewinds, start=1):
            # What counted at that event is what counted then, not what counts now.
            then = timelines[bisect_right(rewinds, rewind.to, 0, number - 1, key=lambda earlier: earlier.at)]
            spans = [
                (after, rewind.to if last is None else min(last, rewind.to))
                for after, last in then.spans
                if after < rewind.to
            ]
            timelines.append(cls((*spans, (rewind.at, None)), number))
        return timelines[-1]


def branched(key: str, branch: int) -> str:
    """The stored key of a round or hunk: it is unique even if the task was rewound before."""
    return f"{key}~{branch}" if branch else key


def plain(key: str) -> str:
    return key.partition("~")[0]
