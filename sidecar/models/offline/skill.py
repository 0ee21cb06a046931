"""What a skill is: it recognises a request, asks for tools, and says in words what came of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sidecar.models.port import ToolReturn
from sidecar.wire.base import JsonObject


@dataclass(frozen=True, slots=True)
class Act:
    """The next calls to make."""

    calls: Sequence[tuple[str, JsonObject]]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Say:
    """The last word."""

    text: str


class Skill(Protocol):
    #: What it can do, as an example of what to say.
    example: str
    #: The tools that it needs; without them it does not offer itself.
    tools: frozenset[str]

    def recognise(self, text: str) -> JsonObject | None:
        """What the request asks for, if it is one of this skill's."""

    def next(self, wish: JsonObject, returns: Sequence[ToolReturn]) -> Act | Say:
        """What to do now that these calls have returned. A pure function: the same question, the same answer."""
