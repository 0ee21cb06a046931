"""A conversation as a provider accepts it, and its JSON, which is written once for each turn."""

import json
from collections.abc import Callable, Iterable, Sequence

from sidecar.models.port import ModelTurn, ToolReturn, ToolTurn, ToolUse, Turn, UserTurn

NOT_RUN = "This call was not carried out."


def valid(history: Sequence[Turn]) -> list[Turn]:
    """Every call has its result right after it, no result is without its call, and the person speaks first."""
    turns: list[Turn] = []
    if history and not isinstance(history[0], UserTurn):
        turns.append(UserTurn(text="Go on."))
    for place, turn in enumerate(history):
        if isinstance(turn, ToolTurn):
            before = history[place - 1] if place else None
            if not isinstance(before, ModelTurn) or not before.calls:
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
        self._written: dict[int, tuple[Turn, bytes]] = {}

    def joined(self, history: Sequence[Turn]) -> bytes:
        written: dict[int, tuple[Turn, bytes]] = {}
        before: Turn | None = None
        for turn in valid(history):
            known = self._written.get(id(turn))
            if known is None or known[0] is not turn:
                known = (turn, b",".join(encoded(message) for message in self._write(turn, before)))
            written[id(turn)] = known
            before = turn
        self._written = written
        return b",".join(text for _, text in written.values() if text)


def encoded(value: object) -> bytes:
    # A lone surrogate, which no provider accepts, becomes a question mark.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
