"""The port of places that hear of tasks: GitHub, Linear, webhooks of your own.

`Reports` asks each channel what an event means for it, and keeps its letters in the outbox; `Sender` hands each letter
back to the channel whose prefix its target has.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from sidecar.doors.actions import Json
from sidecar.doors.outbox import Letter, NewLetter
from sidecar.telemetry.correlation import Trace, trace_of


class TaskOrigin(NamedTuple):
    subject: str
    #: Of the request that began it.
    traceparent: str = ""


class ReportedTask:
    """What a channel may ask about the task of an event. Looked up when it is first asked, then remembered."""

    def __init__(self, task_id: str, look_up: Callable[[], TaskOrigin]) -> None:
        self.id = task_id
        self._look_up = look_up

    @property
    def subject(self) -> str:
        """What the task is about, such as an issue; empty if no door started it."""
        return self._look_up().subject

    @property
    def trace(self) -> Trace:
        return trace_of(self.id, self._look_up().traceparent)


class Channel(Protocol):
    #: With which the targets of its letters begin.
    prefix: str

    def write(self, event: Json, task: ReportedTask) -> Sequence[NewLetter]:
        """What to say about a durable event, most often nothing. Called in a thread; it must not wait."""

    async def send(self, letter: Letter) -> None:
        """Send it, or raise `NotSent`. If `letter.attempts` isn't 0, look first: an earlier one may have succeeded."""
