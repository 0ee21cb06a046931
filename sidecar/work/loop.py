"""The agent loop: ask the model, record its reply, run its tool calls, go on."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Protocol

from sidecar.engine.errors import AgentError
from sidecar.engine.state import UserMessage
from sidecar.engine.steps import StepKey
from sidecar.models.errors import Failure
from sidecar.models.port import (
    Brief,
    Delta,
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
from sidecar.work.archive import RECALL, recall_tool
from sidecar.work.compaction import BYTES_PER_TOKEN, Conversation, estimate_tokens, history_limit
from sidecar.work.replies import CollectedReply, collect
from sidecar.work.roster import Agent
from sidecar.work.tool_selection import MORE_TOOLS, ToolSelection, description_size
from sidecar.work.turn_limits import TurnLimits

#: The failure code for a request that is larger than the model takes.
_OVERFLOW = "context_overflow"


class TurnLog(Protocol):
    """Records an agent's turns. A recorded turn is not asked for again."""

    def recorded(self, key: StepKey) -> CollectedReply | None: ...

    async def begin(self) -> Sequence[UserMessage]:
        """The messages that the agent hasn't read yet. Raises `AgentError` if the budget is used up."""

    def show(self, key: StepKey, delta: Delta) -> None: ...

    def keep_partial(self, key: StepKey, text: str) -> None: ...

    def record(self, key: StepKey, messages: Sequence[UserMessage], reply: Reply, room: int) -> CollectedReply: ...

    async def call(self, key: StepKey, calls: Sequence[ToolUse]) -> Sequence[ToolReturn]: ...

    def may_continue(self, key: StepKey) -> bool:
        """Whether an agent at its end takes this turn anyway.

        It did before, you sent a message that it hasn't read, or you resumed it where it was stopped.
        """

    def record_stop(self, key: StepKey) -> None:
        """The agent was stopped before this turn. Resuming the task lets it go on."""

    def note_left_out(self, what: str) -> None:
        """Tell readers what the model no longer gets because its context window is full."""


@dataclass(slots=True)
class Job:
    """An agent's assignment. Its `key` stays the same after a restart."""

    key: StepKey
    agent: Agent
    model: Model
    history: list[Turn]
    tools: Sequence[ToolInfo] = field(default_factory=tuple)
    max_iterations: int | None = None
    brief: Brief = field(default_factory=Brief)
    #: Goes on if you send a message during its last turn. Otherwise the next agent reads it.
    steered: bool = True
    #: Tools of MCP servers, shells and plug-ins.
    external: Sequence[ToolInfo] = ()
    selection: ToolSelection = field(init=False)
    conversation: Conversation = field(init=False)

    def __post_init__(self) -> None:
        self.selection = ToolSelection(self.tools, self.history, external=self.external)
        tools = sum(description_size(tool) for tool in self.selection.offered) // BYTES_PER_TOKEN
        overhead = estimate_tokens(self.agent.prompt) + tools
        self.conversation = Conversation(partial(history_limit, self.model, overhead), self.history)

    def request(self, messages: Sequence[UserMessage]) -> Request:
        history = [*self.history, *(UserTurn(text=message.text) for message in messages)]
        dropped, offered = self.conversation.dropped, self.selection.offered
        return Request(self.agent.name, self.agent.prompt, history, offered, self.brief, self.tools, dropped)


async def run_agent(job: Job, log: TurnLog, start: StepKey | None = None) -> str:
    """Returns the agent's answer. To go on with a finished job, pass the key under which its new turns are recorded."""
    conversation, limits = job.conversation, TurnLimits(job.agent, job.max_iterations)
    note: str | AgentError | None = None
    for number in count():
        key = (start or job.key).of_turn(number)
        if isinstance(note, AgentError):
            if not log.may_continue(key):
                log.record_stop(key)
                raise note
            limits.reset()
        # A model that answers at once must not starve readers and cancels.
        await asyncio.sleep(0)
        turn = await _next_turn(job, log, key)
        for text in turn.messages:
            conversation.add(UserTurn(text=text))
            limits.reset()
        reply = turn.reply
        if reply.stop is Stop.END and reply.text.strip():
            conversation.add(ModelTurn(text=reply.text, kept=reply.kept))
            if not (job.steered and log.may_continue(key.of_turn(number + 1))):
                return reply.text
            note = None
        elif reply.stop is Stop.TOOL_USE:
            conversation.add(ModelTurn(text=reply.text, calls=reply.calls, kept=reply.kept))
            returns = await _run_calls(job, log, key, reply.calls)
            conversation.add(ToolTurn(returns=returns))
            note = limits.after_calls(reply.calls, returns)
        elif reply.stop in (Stop.END, Stop.LENGTH):
            # Never run half a call; and no provider takes an empty turn back.
            conversation.add(ModelTurn(text=reply.text.strip() or "(nothing)"))
            note = limits.after_incomplete(reply)
        else:
            raise _error_of(reply)
        if isinstance(note, str):
            conversation.add(UserTurn(text=note))
    raise AssertionError("the loop ends by returning or raising")


async def _next_turn(job: Job, log: TurnLog, key: StepKey) -> CollectedReply:
    """Asks the model, unless the turn is recorded. If the request overflows, leaves more out as long as it can."""
    conversation, recorded = job.conversation, log.recorded(key)
    room = (recorded.room if recorded else None) or conversation.limit
    left_out = conversation.fit(room)
    while True:
        if conversation.archive:
            job.selection.offer(recall_tool())
        if recorded is not None:
            return recorded
        messages = await log.begin()
        if left_out is not None:
            log.note_left_out(left_out)
        stream = job.model.stream(job.request(messages))
        reply = await collect(stream, partial(log.show, key), partial(log.keep_partial, key))
        turn = log.record(key, messages, reply, room)
        if reply.failure is None or reply.failure.code != _OVERFLOW:
            return turn
        conversation.mark_overflow()
        room = conversation.limit
        if (left_out := conversation.fit(room)) is None:
            return turn


async def _run_calls(job: Job, log: TurnLog, key: StepKey, calls: Sequence[ToolUse]) -> list[ToolReturn]:
    """In the order of the calls. Calls about the conversation itself need no tool."""
    own = {MORE_TOOLS: job.selection.fetch, RECALL: job.conversation.archive.answer}
    others = [each for each in calls if each.tool not in own]
    done = iter(await log.call(key, others) if others else ())
    return [own[each.tool](each) if each.tool in own else next(done) for each in calls]


def _error_of(reply: Reply) -> AgentError:
    failure = reply.failure or Failure(code=f"model_{reply.stop}", message=f"The model stopped early ({reply.stop}).")
    return AgentError(
        failure.code,
        failure.message,
        recoverable=failure.recoverable,
        retry=failure.retry and reply.stop is not Stop.DECLINED,
    )
