"""What was said live and no stored event contains yet: whoever comes in the middle of it is told all of it at once.

It lives in this process only, like the words themselves: after a restart the message is asked for anew.
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

#: A longer message is not told to latecomers, who get it when it is whole; of a command's output the end is enough.
MOST_TEXT = 1_000_000
MOST_OUTPUT = 64 * 1024

_OVER = frozenset({*ENDED, Status.QUEUED, Status.INTERRUPTED})
_OUTPUT = "output"


@dataclass(slots=True)
class _Piece:
    """The last event of its kind, and the texts of all of them."""

    event: DeltaEvent | ToolOutputEvent
    texts: list[str] = field(default_factory=list)
    size: int = 0


class Spoken:
    def __init__(self) -> None:
        #: By task; then by the message and the kind of its words, or by the call.
        self._pieces: dict[str, dict[tuple[str, str], _Piece]] = {}

    def hear(self, task_id: str, event: Event) -> None:
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
            if piece.size <= MOST_TEXT:
                piece.texts.append(event.text)
            else:
                piece.texts.clear()
            return
        piece.texts.append(event.text)
        if piece.size > 2 * MOST_OUTPUT:
            kept = "".join(piece.texts)[-MOST_OUTPUT:]
            piece.texts, piece.size = [kept], len(kept)

    def settle(self, task_id: str, event: Event) -> None:
        """An event that is stored now: what it contains, or puts an end to, is no longer only live."""
        pieces = self._pieces.get(task_id)
        if pieces is None:
            return
        match event:
            case MessageEvent():
                over = [key for key in pieces if key[0] == event.message_id]
            case ToolEvent():
                # A turn that calls has said what it had to say.
                over = [key for key in pieces if event.call_id.startswith(f"{task_id}.{key[0]}.")]
                if event.status not in ("pending", "running"):
                    over.append((event.call_id, _OUTPUT))
            case RetryEvent():
                over = [key for key in pieces if key[1] != _OUTPUT]
            case StatusEvent() if event.status in _OVER:
                over = list(pieces)
            case _:
                return
        for key in over:
            pieces.pop(key, None)
        if not pieces:
            del self._pieces[task_id]

    def so_far(self, task_id: str) -> Sequence[Event]:
        return [
            piece.event.model_copy(update={"text": "".join(piece.texts), "whole": True})
            for piece in self._pieces.get(task_id, {}).values()
            if piece.texts
        ]
