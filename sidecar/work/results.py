"""How an agent's step ends, as its record keeps it."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from sidecar.engine.steps import StepKey
from sidecar.wire.base import Wire
from sidecar.wire.tasks import Source


class Answered(Wire):
    type: Literal["answered"] = "answered"
    text: str


class GaveUp(Wire):
    """The agent has no answer: its model couldn't begin, or it didn't finish."""

    type: Literal["gave_up"] = "gave_up"
    reason: str
    began: bool


class Researched(Wire):
    """A researcher's answer with the sources that a check found to exist."""

    type: Literal["researched"] = "researched"
    #: The answer with its sources, and what was removed.
    text: str
    answer: str
    sources: list[Source]
    removed: list[str]


AgentResult = Answered | GaveUp | Researched
#: The results of finished steps.
Results = dict[StepKey, str]

_RESULT: TypeAdapter[AgentResult] = TypeAdapter(
    Annotated[AgentResult, Field(discriminator="type")], config={"defer_build": True}
)


def parse_result(body: str) -> AgentResult:
    return _RESULT.validate_json(body)


def render_result(result: AgentResult) -> str:
    """The text for the next agent and the summary; "" if there is none."""
    if isinstance(result, Answered | Researched):
        return result.text
    return f"Not finished: {result.reason}" if result.began else ""


def agent_texts(results: Results) -> list[tuple[StepKey, str]]:
    """The texts of the finished steps, in order."""
    found = [(key, render_result(parse_result(body))) for key, body in results.items() if key.agent]
    return [(key, text) for key, text in found if text]


def researched(results: Results) -> Researched | None:
    """The newest answer of a researcher."""
    found = (parse_result(body) for key, body in results.items() if key.agent)
    return next((each for each in reversed(list(found)) if isinstance(each, Researched)), None)


def next_verification(results: Results) -> int:
    """The number of the round's next verification."""
    return 1 + max((key.number for key in results if key.is_verification), default=0)


def last_verification(results: Results) -> str | None:
    """The newest verification of the round, as its record."""
    return next((results[key] for key in reversed(results) if key.is_verification), None)
