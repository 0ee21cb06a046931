"""Tool calls as they come in, piece by piece, and as they are handed on: whole, named apart, never half of one."""

import json
import re
from collections.abc import Iterable, Sequence

from sidecar.models.port import ModelTurn, ToolUse, Turn
from sidecar.wire.base import JsonObject

#: Arguments larger than this are not kept: no tool takes so much, and every later request would carry them.
MOST_CHARACTERS = 2_000_000
MOST_CALLS = 100
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")


class Draft:
    """One call on its way in. `args` are whole where the provider sends them whole."""

    def __init__(self, id: str = "", tool: str = "", args: JsonObject | None = None) -> None:
        self.id = id
        self.tool = tool
        self._args = args
        self._pieces: list[str] = []
        self._size = 0

    def add(self, piece: str) -> None:
        self._size += len(piece)
        if self._size <= MOST_CHARACTERS:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def read(self) -> tuple[JsonObject, str | None]:
        """The arguments, or what is wrong with them, said to the model."""
        if self._args is not None:
            return self._args, None
        if self._size > MOST_CHARACTERS:
            return {}, (
                f"The arguments were {self._size:,} characters long; at most {MOST_CHARACTERS:,} are taken. "
                "Nothing was done. Do it in smaller parts."
            )
        text = "".join(self._pieces)
        try:
            found = json.loads(text) if text.strip() else {}
        except ValueError as error:
            return {}, f"The arguments are not valid JSON ({error}). Nothing was done. Send the call again."
        if not isinstance(found, dict):
            return {}, "The arguments are not a JSON object. Nothing was done. Send the call again."
        return found, None


class Calls:
    """The calls of a conversation. Each has an id that no other has, also if a server gives the same ones again."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        #: How many turns have been looked at.
        self._seen = 0

    def finished(self, drafts: Iterable[Draft], history: Sequence[Turn]) -> list[ToolUse]:
        """The calls of a reply that came to its end."""
        self._look(history)
        calls = []
        for number, draft in enumerate(drafts):
            args, problem = draft.read()
            if number >= MOST_CALLS:
                problem = f"At most {MOST_CALLS} calls are carried out in one turn. This one was not."
            name = self._unused(safe(draft.id), len(history))
            self._taken.add(name)
            calls.append(ToolUse(id=name, tool=draft.tool, args={} if problem else args, problem=problem))
        return calls

    def _look(self, history: Sequence[Turn]) -> None:
        start = self._seen if self._seen <= len(history) else 0
        for turn in history[start:]:
            if isinstance(turn, ModelTurn):
                self._taken.update(call.id for call in turn.calls)
        self._seen = len(history)

    def _unused(self, name: str, place: int) -> str:
        tried, number = name, place
        while tried in self._taken:
            tried = f"{name[:48]}-{number}"
            number += 1
        return tried


def safe(name: str) -> str:
    """A name of letters, digits, `_` and `-`, as every provider accepts it."""
    return _NOT_IN_A_NAME.sub("_", name)[:64] or "call"
