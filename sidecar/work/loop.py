"""The loop that every agent runs: ask the model, record the reply, carry out its calls, go on."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Protocol

from sidecar.engine.errors import AgentError
from sidecar.engine.steps import StepKey
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
from sidecar.work.archive import RECALL, recall
from sidecar.work.compaction import Fitting
from sidecar.work.replies import CollectedReply
from sidecar.work.roster import Agent
from sidecar.work.tokens import BYTES_A_TOKEN, estimate, room
from sidecar.work.tool_selection import MORE, ToolSelection, size
from sidecar.work.turn_limits import TurnLimits

#: What a provider says that was sent more than it takes.
_OVERFLOW = "context_overflow"


class TurnLog(Protocol):
    """Where an agent's turns are kept. What is in the log is not asked for again."""

    async def turn(
        self, key: StepKey, agent: str, ask: Callable[[Sequence[str]], AsyncIterator[Delta | Reply]], room: int
    ) -> CollectedReply:
        """The reply recorded under that key; else `ask`, with the messages that came meanwhile, and record it."""

    def room(self, key: StepKey) -> int | None:
        """How many tokens the history might have when the turn under that key was asked for, if it was."""

    async def call(self, key: StepKey, agent: Agent, calls: Sequence[ToolUse]) -> Sequence[ToolReturn]: ...

    def goes_on(self, key: StepKey) -> bool:
        """Whether an agent that was at its end takes that turn all the same.

        It did so before, or the person has said something that it has not heard, or has resumed it where it was
        stopped.
        """

    def stopped(self, key: StepKey) -> None:
        """The agent was not let take that turn. Whoever resumes the task lets it."""

    def left_out(self, what: str) -> None:
        """What the model is no longer sent, because its window is full."""


@dataclass(slots=True)
class Job:
    """What an agent is to do. `key` names it for good: the same job has the same key after a restart."""

    key: StepKey
    agent: Agent
    model: Model
    history: list[Turn]
    tools: Sequence[ToolInfo] = field(default_factory=tuple)
    max_iterations: int | None = None
    brief: Brief = field(default_factory=Brief)
    #: Whether it goes on when the person says something during its last word. Else the next agent hears it.
    steered: bool = True
    selection: ToolSelection = field(init=False)
    fitting: Fitting = field(init=False)

    def __post_init__(self) -> None:
        self.selection = ToolSelection(self.tools, self.history)
        beside = estimate(self.agent.prompt) + sum(size(tool) for tool in self.selection.offered) // BYTES_A_TOKEN
        self.fitting = Fitting(partial(room, self.model, beside), self.history)


async def run_agent(job: Job, log: TurnLog, name: StepKey | None = None) -> str:
    """The agent's last word. Whoever goes on with a job that is done gives that a name of its own."""
    fitting, limits = job.fitting, TurnLimits(job.agent, job.max_iterations)
    note: str | AgentError | None = None
    for number in count():
        key = (name or job.key).of_turn(number)
        if isinstance(note, AgentError):
            if not log.goes_on(key):
                log.stopped(key)
                raise note
            limits.afresh()
        # A model that answers at once must not keep others from their turn, such as whoever watches or cancels.
        await asyncio.sleep(0)
        heard = await _next_turn(job, log, key)
        reply = heard.reply
        for text in heard.messages:
            fitting.add(UserTurn(text=text))
            limits.afresh()
        if reply.stop is Stop.END and reply.text.strip():
            fitting.add(ModelTurn(text=reply.text, kept=reply.kept))
            if not (job.steered and log.goes_on(key.of_turn(number + 1))):
                return reply.text
            note = None
        elif reply.stop is Stop.TOOL_USE:
            fitting.add(ModelTurn(text=reply.text, calls=reply.calls, kept=reply.kept))
            returns = await _carried_out(job, reply.calls, partial(log.call, key, job.agent))
            fitting.add(ToolTurn(returns=returns))
            note = limits.after_calls(reply.calls, returns)
        elif reply.stop in (Stop.END, Stop.LENGTH):
            # Half a call is never carried out, and no provider takes an empty turn back.
            fitting.add(ModelTurn(text=reply.text.strip() or "(nothing)"))
            note = limits.after_words(reply)
        else:
            raise _failed(reply)
        if isinstance(note, str):
            fitting.add(UserTurn(text=note))
    raise AssertionError("an agent comes to an end")


async def _next_turn(job: Job, log: TurnLog, key: StepKey) -> CollectedReply:
    """A server that does not take so much, though nobody knew, is sent less, as long as something can be left out."""
    fitting = job.fitting
    room = log.room(key) or fitting.limit
    left_out = fitting.fit(room)
    while True:
        if fitting.archive:
            job.selection.offer(recall())
        heard = await log.turn(key, job.agent.name, partial(_ask, job, log, left_out), room)
        if heard.reply.failure is None or heard.reply.failure.code != _OVERFLOW:
            return heard
        fitting.was_too_much()
        room = fitting.limit
        if (left_out := fitting.fit(room)) is None:
            return heard


def _ask(job: Job, log: TurnLog, left_out: str | None, messages: Sequence[str]) -> AsyncIterator[Delta | Reply]:
    if left_out is not None:
        log.left_out(left_out)
    history = [*job.history, *(UserTurn(text=text) for text in messages)]
    offered, gone = job.selection.offered, job.fitting.gone
    return job.model.stream(Request(job.agent.name, job.agent.prompt, history, offered, job.brief, job.tools, gone))


async def _carried_out(
    job: Job, calls: Sequence[ToolUse], call: Callable[[Sequence[ToolUse]], Awaitable[Sequence[ToolReturn]]]
) -> list[ToolReturn]:
    """In the order of the calls. What is about the conversation itself takes no tool."""
    own = {MORE: job.selection.fetch, RECALL: job.fitting.archive.answer}
    others = [each for each in calls if each.tool not in own]
    done = iter(await call(others) if others else ())
    return [own[each.tool](each) if each.tool in own else next(done) for each in calls]


def _failed(reply: Reply) -> AgentError:
    failure = reply.failure or Failure(code=f"model_{reply.stop}", message=f"The model stopped early ({reply.stop}).")
    return AgentError(
        failure.code,
        failure.message,
        recoverable=failure.recoverable,
        retry=failure.retry and reply.stop is not Stop.DECLINED,
    )
