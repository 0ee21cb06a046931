"""The loop that every agent runs: ask the model, record the reply, carry out its calls, go on."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from sidecar.agents.errors import AgentError
from sidecar.agents.roster import Agent
from sidecar.models.port import (
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


@dataclass(slots=True)
class Job:
    """What an agent is to do. `key` names it for good: the same job has the same key after a restart."""

    key: str
    agent: Agent
    model: Model
    history: list[Turn]
    tools: Sequence[ToolInfo] = field(default_factory=tuple)
    max_iterations: int | None = None


async def work(job: Job, books: Books) -> str:
    """The agent's last word."""
    history = job.history
    limit = job.max_iterations or job.agent.max_iterations
    for number in range(limit):
        key = f"{job.key}.{number}"
        heard = await books.turn(key, job.agent.name, partial(_ask, job))
        history += [UserTurn(text=text) for text in heard.messages]
        history.append(ModelTurn(text=heard.reply.text, calls=heard.reply.calls, kept=heard.reply.kept))
        if heard.reply.stop is not Stop.TOOL_USE:
            return _last_word(heard.reply)
        history.append(ToolTurn(returns=list(await books.call(key, job.agent, heard.reply.calls))))
    raise AgentError(
        "iteration_limit",
        f"The {job.agent.name} was not done after {limit} turns. What it did is kept; send it a message to go on.",
        retry=False,
    )


def _ask(job: Job, messages: Sequence[str]) -> AsyncIterator[Delta | Reply]:
    said = [UserTurn(text=text) for text in messages]
    return job.model.stream(Request(job.agent.name, job.agent.prompt, [*job.history, *said], job.tools))


def _last_word(reply: Reply) -> str:
    if reply.stop is Stop.END:
        return reply.text
    failure = reply.failure or Failure(code=f"model_{reply.stop}", message=f"The model stopped early ({reply.stop}).")
    raise AgentError(
        failure.code,
        failure.message,
        recoverable=failure.recoverable,
        retry=failure.retry and reply.stop is not Stop.DECLINED,
    )


async def collect(stream: AsyncIterator[Delta | Reply], show: Callable[[Delta], None]) -> Reply:
    """The whole reply. A stream that ends without one was cut: nothing of it is acted upon."""
    async for part in stream:
        if isinstance(part, Reply):
            return part
        show(part)
    failure = Failure(code="stream_cut", message="The model's reply broke off before its end.")
    return Reply(stop=Stop.FAILED, failure=failure)
