"""How an agent's step ends, as its record keeps it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from sidecar.engine.pipeline import Results, Step
from sidecar.engine.steps import StepKey
from sidecar.wire.base import Wire
from sidecar.wire.events import Event


class Answered(Wire):
    type: Literal["answered"] = "answered"
    text: str


class GaveUp(Wire):
    """The agent did not get to an answer: it couldn't begin, or it didn't come to an end."""

    type: Literal["gave_up"] = "gave_up"
    reason: str
    began: bool


AgentResult = Answered | GaveUp

_RESULT: TypeAdapter[AgentResult] = TypeAdapter(
    Annotated[AgentResult, Field(discriminator="type")], config={"defer_build": True}
)


def parse_result(body: str) -> AgentResult:
    return _RESULT.validate_json(body)


def render_result(result: AgentResult) -> str:
    """As the next agent and the summary read it; "" if the agent said nothing."""
    if isinstance(result, Answered):
        return result.text
    return f"Not finished: {result.reason}" if result.began else ""


def agent_step(
    key: StepKey,
    message: str,
    act: Callable[[Results], Awaitable[AgentResult]],
    then: Callable[[str], Sequence[Event]] = lambda said: (),
) -> Step:
    """A step of an agent; `then` gets what the agent said."""

    async def encode(results: Results) -> str:
        return (await act(results)).to_json()

    return Step(key, key.agent, message, encode, lambda body: then(render_result(parse_result(body))))


def agent_texts(results: Results) -> list[tuple[StepKey, str]]:
    """What the agents said in the steps that are done, in order."""
    found = [(key, render_result(parse_result(body))) for key, body in results.items() if key.agent]
    return [(key, text) for key, text in found if text]
