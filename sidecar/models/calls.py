"""Assembles streamed tool calls: complete, with unique ids, never half a call."""

import json
import re
from collections.abc import Iterable, Sequence, Sized
from math import isfinite
from typing import Any

from sidecar.models.encoding import encode_json
from sidecar.models.errors import Failure, ModelFailed
from sidecar.models.port import ModelTurn, ToolUse, Turn
from sidecar.wire.base import JsonObject

#: Larger arguments are rejected: no tool takes as much, and every later request would carry them.
MAX_CHARACTERS = 2_000_000
#: The stream is aborted beyond this.
ABORT_CHARACTERS = 20_000_000
MAX_CALLS = 100
ABORT_CALLS = 2_000
#: No tool takes arguments nested deeper than this.
MAX_DEPTH = 64
#: OpenAI accepts no longer id.
_MAX_ID = 40
#: Prefixes and suffixes that models add to tool names by mistake.
_NAME_NOISE = re.compile(r"^(functions|default_api)[.:]|<\|.*$", re.S)
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")


class CallDraft:
    """A call being received. Pass `args` if the provider sends them whole."""

    def __init__(self, id: str = "", tool: str = "", args: JsonObject | None = None) -> None:
        self.id = id
        self.tool = tool
        self._pieces: list[str] = []
        self.size = 0
        if args:
            self.add(encode_json(args).decode())

    def add(self, piece: str) -> None:
        self.size += len(piece)
        if self.size <= MAX_CHARACTERS:
            self._pieces.append(piece)
        elif self.size <= ABORT_CHARACTERS:
            self._pieces.clear()
        else:
            message = f"The model wrote more than {ABORT_CHARACTERS:,} characters of arguments without end."
            raise ModelFailed(Failure(code="reply_too_long", message=message, retry=False))

    @property
    def whole(self) -> bool:
        """Whether the arguments are complete JSON; further pieces belong to another call."""
        return bool(self._pieces) and self.read()[1] is None

    def read(self) -> tuple[JsonObject, str | None]:
        """The arguments, or an error message for the model."""
        if self.size > MAX_CHARACTERS:
            return {}, (
                f"The arguments have {self.size:,} characters; the limit is {MAX_CHARACTERS:,}. "
                "Nothing was done. Split the work into smaller calls."
            )
        try:
            found = _parsed("".join(self._pieces))
            # Some servers encode the object as a string.
            found = _parsed(found) if isinstance(found, str) else found
        except (ValueError, RecursionError) as error:
            return {}, f"The arguments are not valid JSON ({error}). Nothing was done. Send the call again."
        if not isinstance(found, dict):
            return {}, "The arguments are not a JSON object. Nothing was done. Send the call again."
        if _is_deeper(found, MAX_DEPTH):
            return {}, f"The arguments are nested more than {MAX_DEPTH} deep. Nothing was done. Send the call again."
        return found, None


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"{digits} is too large a number")
    return number


#: Building it takes longer than decoding most arguments.
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


def check_call_count(drafts: Sized) -> None:
    """Abort a reply with too many calls."""
    if len(drafts) >= ABORT_CALLS:
        message = f"The model asked for more than {ABORT_CALLS:,} calls in one reply."
        raise ModelFailed(Failure(code="reply_too_long", message=message, retry=False))


class CallIds:
    """Keeps call ids unique in a conversation, even if the server repeats them."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        #: Number of turns already scanned.
        self._seen = 0

    def finish(self, drafts: Iterable[CallDraft], history: Sequence[Turn]) -> list[ToolUse]:
        """The calls of a complete reply."""
        self._check(history)
        calls = []
        for number, draft in enumerate(drafts):
            args, problem = draft.read()
            if number >= MAX_CALLS:
                problem = f"At most {MAX_CALLS} calls run in one turn; this one did not."
            name = self._unused(safe_name(draft.id), len(history))
            self._taken.add(name)
            tool = _NAME_NOISE.sub("", draft.tool)
            calls.append(ToolUse(id=name, tool=tool, args={} if problem else args, problem=problem))
        return calls

    def _check(self, history: Sequence[Turn]) -> None:
        start = self._seen if self._seen <= len(history) else 0
        for turn in history[start:]:
            if isinstance(turn, ModelTurn):
                self._taken.update(call.id for call in turn.calls)
        self._seen = len(history)

    def _unused(self, name: str, place: int) -> str:
        candidate, number = name[:_MAX_ID], place
        while candidate in self._taken:
            candidate = f"{name[: _MAX_ID - 8]}-{number}"
            number += 1
        return candidate


def safe_name(name: str) -> str:
    """The name with only letters, digits, `_` and `-`, which every provider accepts."""
    return _NOT_IN_A_NAME.sub("_", name)[:64] or "call"
