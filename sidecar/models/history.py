"""Repairs a history so that every provider accepts it, and caches the JSON of its turns."""

from collections.abc import Callable, Iterable, Sequence
from operator import is_

from sidecar.models.encoding import encode_json
from sidecar.models.port import ModelTurn, ToolReturn, ToolTurn, ToolUse, Turn, UserTurn

NOT_RUN = "This call did not run."


def repair(history: Sequence[Turn], before: Turn | None = None) -> list[Turn]:
    """Make every call have its result right after it, drop results without a call, and start with the user."""
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


def results_in_order(calls: Sequence[ToolUse], turn: ToolTurn) -> list[ToolReturn]:
    """One result for each call, in the order of the calls."""
    found = {result.id: result for result in turn.returns}
    return [found.get(call.id) or _missing(call) for call in calls]


def _missing(call: ToolUse) -> ToolReturn:
    return ToolReturn(id=call.id, tool=call.tool, status="error", content=NOT_RUN)


Write = Callable[[Turn, Turn | None], Iterable[object]]


class Fragments:
    """Caches the JSON of a history: turns never change, and encoding all of them each time is quadratic."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._known: list[Turn] = []
        self._text = b""

    def render(self, history: Sequence[Turn]) -> bytes:
        known = len(self._known)
        if known > len(history) or not all(map(is_, self._known, history)):
            # A turn was dropped or changed: encode everything again.
            self._known, self._text, known = [], b"", 0
        before = history[known - 1] if known else None
        pieces = [self._text] if self._text else []
        for turn in repair(history[known:], before):
            pieces += [encode_json(message) for message in self._write(turn, before)]
            before = turn
        text = b",".join(pieces)
        if not isinstance(history[-1], ModelTurn):
            # The results of a model's turn may still follow.
            self._known, self._text = list(history), text
        return text
