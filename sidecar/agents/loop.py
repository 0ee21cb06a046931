"""The loop that every agent runs: ask the model, record the reply, carry out its calls, go on."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Protocol

from sidecar.agents.compaction import Fitting
from sidecar.agents.errors import AgentError
from sidecar.agents.pace import Pace
from sidecar.agents.roster import Agent
from sidecar.agents.shelf import MORE, Shelf
from sidecar.agents.tokens import room
from sidecar.models.port import (
    Brief,
    Delta,
    Failure,
    Model,
    ModelTurn,
    Reply,
    Request,
    Stop,
    ToolReturn,
    ToolTurn,
    ToolUse,
    Turn,
    UserTurn,
)
from sidecar.wire.tools import ToolInfo


@dataclass(frozen=True, slots=True)
class Heard:
    """A reply, and what the person had said just before it was asked for."""

    messages: Sequence[str]
    reply: Reply


class Books(Protocol):
    """Where an agent's turns are kept. What is in the books is not asked for again."""

    async def turn(self, key: str, agent: str, ask: Callable[[Sequence[str]], AsyncIterator[Delta | Reply]]) -> Heard:
        """The reply recorded under that key; else `ask`, with the messages that came meanwhile, and record it."""

    async def call(self, key: str, agent: Agent, calls: Sequence[ToolUse]) -> Sequence[ToolReturn]: ...

    def spoken(self) -> bool:
        """Whether the person has said something that the agent has not heard yet."""

    def left_out(self, what: str) -> None:
        """What the model is no longer sent, because its window is full."""


@dataclass(slots=True)
class Job:
    """What an agent is to do. `key` names it for good: the same job has the same key after a restart."""

    key: str
    agent: Agent
    model: Model
    history: list[Turn]
    tools: Sequence[ToolInfo] = field(default_factory=tuple)
    max_iterations: int | None = None
    brief: Brief = field(default_factory=Brief)


async def work(job: Job, books: Books) -> str:
    """The agent's last word."""
    fitting, pace = Fitting(room(job.model), job.history), Pace(job.agent, job.max_iterations)
    shelf = Shelf(job.tools, job.history)
    for number in count():
        if pace.spent and not books.spoken():
            raise pace.at_limit()
        key = f"{job.key}.{number}"
        heard = await books.turn(key, job.agent.name, partial(_ask, job, books, shelf, fitting, fitting.fit()))
        reply = heard.reply
        for text in heard.messages:
            fitting.add(UserTurn(text=text))
            pace.heard()
        if reply.stop is Stop.END and reply.text.strip():
            fitting.add(ModelTurn(text=reply.text, kept=reply.kept))
            return reply.text
        if reply.stop is Stop.TOOL_USE:
            fitting.add(ModelTurn(text=reply.text, calls=reply.calls, kept=reply.kept))
            returns = await _carried_out(reply.calls, shelf, partial(books.call, key, job.agent))
            fitting.add(ToolTurn(returns=returns))
            note = pace.after_calls(reply.calls, returns)
        elif reply.stop in (Stop.END, Stop.LENGTH):
            # Half a call is never carried out, and no provider takes an empty turn back.
            fitting.add(ModelTurn(text=reply.text.strip() or "(nothing)"))
            note = pace.after_words(reply)
        else:
            raise _failed(reply)
        if isinstance(note, str):
            fitting.add(UserTurn(text=note))
        elif note is not None and not books.spoken():
            raise note
    raise AssertionError("an agent comes to an end")


def _ask(
    job: Job, books: Books, shelf: Shelf, fitting: Fitting, left_out: str | None, messages: Sequence[str]
) -> AsyncIterator[Delta | Reply]:
    if left_out is not None:
        books.left_out(left_out)
    history = [*job.history, *(UserTurn(text=text) for text in messages)]
    request = Request(job.agent.name, job.agent.prompt, history, shelf.offered, job.brief, job.tools, fitting.gone)
    return job.model.stream(request)


async def _carried_out(
    calls: Sequence[ToolUse], shelf: Shelf, call: Callable[[Sequence[ToolUse]], Awaitable[Sequence[ToolReturn]]]
) -> list[ToolReturn]:
    """In the order of the calls. To be told of more tools takes no tool."""
    others = [each for each in calls if each.tool != MORE]
    done = iter(await call(others) if others else ())
    return [shelf.fetch(each) if each.tool == MORE else next(done) for each in calls]


def _failed(reply: Reply) -> AgentError:
    failure = reply.failure or Failure(code=f"model_{reply.stop}", message=f"The model stopped early ({reply.stop}).")
    return AgentError(
        failure.code,
        failure.message,
        recoverable=failure.recoverable,
        retry=failure.retry and reply.stop is not Stop.DECLINED,
    )


async def collect(stream: AsyncIterator[Delta | Reply], show: Callable[[Delta], None]) -> Reply:
    """The whole reply. A stream that ends without one was cut: nothing of it is acted upon."""
    failure = Failure(code="stream_cut", message="The model's reply broke off before its end.")
    reply = Reply(stop=Stop.FAILED, failure=failure)
    async for part in stream:
        if isinstance(part, Reply):
            # Nothing comes after it, but the stream is heard to its end: then it has nothing left to tidy up.
            reply = part
        else:
            show(part)
    return reply
