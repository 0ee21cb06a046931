"""The skill interface: parse a question, call tools, answer from their results."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.results import failure, is_declined
from sidecar.wire.base import JsonObject


@dataclass(frozen=True, slots=True)
class Act:
    """The tool calls of the next turn; they run in parallel."""

    calls: Sequence[tuple[str, JsonObject]]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Say:
    """The final answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Decline:
    """The final answer if it can't be done: the task fails with it."""

    text: str
    code: str = "not_possible"


Move = Act | Say | Decline


class OfflineSkill(Protocol):
    #: A request that it answers, for the help.
    example: str
    #: The tools it needs; without them it is not asked.
    tools: frozenset[str]

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        """The arguments of the question, or None if it is not for this skill."""

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        """The next move, given the results so far. A pure function."""


class OneCall:
    """A skill that makes one call and answers with its result."""

    tool: str

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        last = question.last
        if last is None:
            return Act([(self.tool, args)])
        return Say(self.answer(args, last)) if last.status == "success" else Decline(failure(last))

    def answer(self, args: JsonObject, last: ToolReturn) -> str:
        return last.content


def answer_change(last: ToolReturn) -> Move:
    """The answer to a call that changes code: its note, or why nothing changed."""
    if is_declined(last):
        return Say("You declined; nothing was changed.")
    return Say(str(last.details.get("note", ""))) if last.status == "success" else Decline(failure(last))


def decline_fix(question: ParsedRequest) -> Decline | None:
    """Declines to fix a change that failed verification: the same rule would make the same change."""
    if not question.brief.fixes:
        return None
    return Decline(
        "The change was made, but a check failed and the offline model can't fix it. Undo the change, or configure a "
        "language model: see `brain doctor`."
    )
