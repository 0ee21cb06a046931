"""A conversation as a provider accepts it, and its JSON, which is written once for each turn."""

import json
from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Any

from pydantic_core import from_json, to_json

from sidecar.models.characters import mended
from sidecar.models.port import ModelTurn, ToolReturn, ToolTurn, ToolUse, Turn, UserTurn

NOT_RUN = "This call was not carried out."


def valid(history: Sequence[Turn], before: Turn | None = None) -> list[Turn]:
    """Every call has its result right after it, no result is without its call, and the person speaks first."""
    turns: list[Turn] = []
    if before is None and history and not isinstance(history[0], UserTurn):
        turns.append(UserTurn(text="Go on."))
    for place, turn in enumerate(history):
        earlier = history[place - 1] if place else before
        if isinstance(turn, ToolTurn) and not (isinstance(earlier, ModelTurn) and earlier.calls):
            continue
        turns.append(turn)
        if isinstance(turn, ModelTurn) and turn.calls:
            after = history[place + 1] if place + 1 < len(history) else None
            if not isinstance(after, ToolTurn):
                turns.append(ToolTurn(returns=[_missing(call) for call in turn.calls]))
    return turns


def results(calls: Sequence[ToolUse], turn: ToolTurn) -> list[ToolReturn]:
    """One result for each call, in the order of the calls."""
    found = {result.id: result for result in turn.returns}
    return [found.get(call.id) or _missing(call) for call in calls]


def _missing(call: ToolUse) -> ToolReturn:
    return ToolReturn(id=call.id, tool=call.tool, status="error", content=NOT_RUN)


Write = Callable[[Turn, Turn | None], Iterable[object]]


class Fragments:
    """The messages of a history as JSON. A turn never changes, so what was written of it is used again.

    Without this a request would cost more with every turn of a long task.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._known: list[Turn] = []
        self._text = b""

    def joined(self, history: Sequence[Turn]) -> bytes:
        known = len(self._known)
        if known > len(history) or not all(map(is_, self._known, history)):
            # Something was left out, or said differently: all of it is written anew.
            self._known, self._text, known = [], b"", 0
        before = history[known - 1] if known else None
        pieces = [self._text] if self._text else []
        for turn in valid(history[known:], before):
            pieces += [encoded(message) for message in self._write(turn, before)]
            before = turn
        text = b",".join(pieces)
        if not isinstance(history[-1], ModelTurn):
            # After a model's turn something that belongs to it may still come.
            self._known, self._text = list(history), text
        return text


def encoded(value: object) -> bytes:
    try:
        # Several times faster than the standard library, which is felt with every turn.
        return to_json(value)
    except (ValueError, UnicodeError):
        return mended(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()


def decoded(text: bytes) -> Any:
    try:
        return from_json(text)
    except ValueError:
        pass
    try:
        # Half of a character is no JSON to it, but some models write one.
        return json.loads(text)
    except UnicodeDecodeError:
        return json.loads(text.decode(errors="replace"))
