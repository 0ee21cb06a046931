"""Live text that no stored event contains yet, so that a reader who joins late gets all of it at once.

It lives in this process only: after a restart the model is asked again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sidecar.wire.events import (
    DeltaEvent,
    Event,
    MessageEvent,
    RetryEvent,
    StatusEvent,
    ToolEvent,
    ToolOutputEvent,
)
from sidecar.wire.tasks import ENDED, Status

#: Late readers get a longer message only when it is complete, and only the end of a longer command output.
MAX_TEXT = 1_000_000
MAX_OUTPUT = 64 * 1024

_STOPPED = frozenset({*ENDED, Status.QUEUED, Status.INTERRUPTED})
_OUTPUT = "output"


@dataclass(slots=True)
class _Piece:
    """The last event of a message or command, and the texts of all of them."""

    event: DeltaEvent | ToolOutputEvent
    texts: list[str] = field(default_factory=list)
    size: int = 0


class LiveText:
    def __init__(self) -> None:
        #: By task, then by message and kind of text, or by tool call.
        self._pieces: dict[str, dict[tuple[str, str], _Piece]] = {}

    def add(self, task_id: str, event: Event) -> None:
        key: tuple[str, str]
        if isinstance(event, DeltaEvent):
            key = event.message_id, event.kind
        elif isinstance(event, ToolOutputEvent):
            key = event.call_id, _OUTPUT
        else:
            return
        pieces = self._pieces.setdefault(task_id, {})
        piece = pieces.setdefault(key, _Piece(event))
        if event.whole:
            piece.texts.clear()
            piece.size = 0
        piece.event = event
        piece.size += len(event.text)
        if isinstance(event, DeltaEvent):
            if piece.size <= MAX_TEXT:
                piece.texts.append(event.text)
            else:
                piece.texts.clear()
            return
        piece.texts.append(event.text)
        if piece.size > 2 * MAX_OUTPUT:
            end = "".join(piece.texts)[-MAX_OUTPUT:]
            piece.texts, piece.size = [end], len(end)

    def drop_stored(self, task_id: str, event: Event) -> None:
        """Drop the live text that a stored event contains or ends."""
        pieces = self._pieces.get(task_id)
        if pieces is None:
            return
        match event:
            case MessageEvent():
                done = [key for key in pieces if key[0] == event.message_id]
            case ToolEvent():
                # A turn that calls a tool has finished its text.
                done = [key for key in pieces if key[0] == event.message_id]
                if event.status not in ("pending", "running"):
                    done.append((event.call_id, _OUTPUT))
            case RetryEvent():
                done = [key for key in pieces if key[1] != _OUTPUT]
            case StatusEvent() if event.status in _STOPPED:
                done = list(pieces)
            case _:
                return
        for key in done:
            pieces.pop(key, None)
        if not pieces:
            del self._pieces[task_id]

    def drop(self, task_id: str) -> None:
        self._pieces.pop(task_id, None)

    def events(self, task_id: str) -> Sequence[Event]:
        return [
            piece.event.model_copy(update={"text": "".join(piece.texts), "whole": True})
            for piece in self._pieces.get(task_id, {}).values()
            if piece.texts
        ]
