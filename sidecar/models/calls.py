"""Tool calls as they come in, piece by piece, and as they are handed on: whole, named apart, never half of one."""

import json
import re
from collections.abc import Iterable, Sequence, Sized
from math import isfinite
from typing import Any

from sidecar.models.errors import Unusable
from sidecar.models.history import encoded
from sidecar.models.port import Failure, ModelTurn, ToolUse, Turn
from sidecar.wire.base import JsonObject

#: Arguments larger than this are not kept: no tool takes so much, and every later request would carry them.
MOST_CHARACTERS = 2_000_000
#: Who writes still more is not waited for.
ENDLESS = 20_000_000
MOST_CALLS = 100
ENDLESS_CALLS = 2_000
#: A call that is nested deeper than this is no call of any tool, and not everything can write it down.
DEEPEST = 64
#: OpenAI takes no longer one, whoever gave it.
_LONGEST_ID = 40
#: What models put around the name of a tool when they forget themselves.
_FRILLS = re.compile(r"^(functions|default_api)[.:]|<\|.*$", re.S)
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")


class Draft:
    """One call on its way in. Where the provider sends the arguments whole, they are given with it."""

    def __init__(self, id: str = "", tool: str = "", args: JsonObject | None = None) -> None:
        self.id = id
        self.tool = tool
        self._pieces: list[str] = []
        self.size = 0
        if args:
            self.add(encoded(args).decode())

    def add(self, piece: str) -> None:
        self.size += len(piece)
        if self.size <= MOST_CHARACTERS:
            self._pieces.append(piece)
        elif self.size <= ENDLESS:
            self._pieces.clear()
        else:
            message = f"The model wrote more than {ENDLESS:,} characters of arguments, and did not come to an end."
            raise Unusable(Failure(code="reply_too_long", message=message, retry=False))

    @property
    def whole(self) -> bool:
        """Whether nothing is missing: what comes now belongs to another call."""
        return bool(self._pieces) and self.read()[1] is None

    def read(self) -> tuple[JsonObject, str | None]:
        """The arguments, or what is wrong with them, said to the model."""
        if self.size > MOST_CHARACTERS:
            return {}, (
                f"The arguments were {self.size:,} characters long; at most {MOST_CHARACTERS:,} are taken. "
                "Nothing was done. Do it in smaller parts."
            )
        try:
            found = _parsed("".join(self._pieces))
            # Some servers put the object into a string.
            found = _parsed(found) if isinstance(found, str) else found
        except (ValueError, RecursionError) as error:
            return {}, f"The arguments are not valid JSON ({error}). Nothing was done. Send the call again."
        if not isinstance(found, dict):
            return {}, "The arguments are not a JSON object. Nothing was done. Send the call again."
        if _is_deeper(found, DEEPEST):
            return {}, f"The arguments are nested more than {DEEPEST} deep. Nothing was done. Send the call again."
        return found, None


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"{digits} is too large a number")
    return number


#: Made once: it takes longer to make than most arguments take to read.
_DECODER = json.JSONDecoder(parse_constant=_refused, parse_float=_finite)


def _parsed(text: str) -> Any:
    return _DECODER.decode(text) if text.strip() else {}


def _is_deeper(value: object, levels: int) -> bool:
    level = [value]
    for _ in range(levels):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def another(drafts: Sized) -> None:
    """Before one more is begun: who asks for more and more is not listened to for ever."""
    if len(drafts) >= ENDLESS_CALLS:
        message = f"The model asked for more than {ENDLESS_CALLS:,} calls at once, and did not come to an end."
        raise Unusable(Failure(code="reply_too_long", message=message, retry=False))


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
            tool = _FRILLS.sub("", draft.tool)
            calls.append(ToolUse(id=name, tool=tool, args={} if problem else args, problem=problem))
        return calls

    def _look(self, history: Sequence[Turn]) -> None:
        start = self._seen if self._seen <= len(history) else 0
        for turn in history[start:]:
            if isinstance(turn, ModelTurn):
                self._taken.update(call.id for call in turn.calls)
        self._seen = len(history)

    def _unused(self, name: str, place: int) -> str:
        tried, number = name[:_LONGEST_ID], place
        while tried in self._taken:
            tried = f"{name[: _LONGEST_ID - 8]}-{number}"
            number += 1
        return tried


def safe(name: str) -> str:
    """A name of letters, digits, `_` and `-`, as every provider accepts it."""
    return _NOT_IN_A_NAME.sub("_", name)[:64] or "call"
