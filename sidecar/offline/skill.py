"""What a skill is: it recognises a request, asks for tools, and says in words what came of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sidecar.offline.question import Question
from sidecar.wire.base import JsonObject


@dataclass(frozen=True, slots=True)
class Act:
    """The next calls to make, those of one turn together."""

    calls: Sequence[tuple[str, JsonObject]]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Say:
    """The last word: what was asked for is done, or answered."""

    text: str


@dataclass(frozen=True, slots=True)
class Decline:
    """The last word when it could not be done: why, and what to do instead. The task fails with it."""

    text: str
    code: str = "not_possible"


Move = Act | Say | Decline


class Skill(Protocol):
    #: What it can do, as an example of what to say.
    example: str
    #: The tools that it needs; without them it does not offer itself.
    tools: frozenset[str]

    def recognise(self, question: Question) -> JsonObject | None:
        """What the question asks for, if it is one of this skill's."""

    def next(self, wish: JsonObject, question: Question) -> Move:
        """What to do now that these calls have returned. A pure function: the same question, the same answer."""
