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
from sidecar.work.attachments import user_turn
from sidecar.work.compaction import BYTES_PER_TOKEN, Conversation, estimate_tokens, history_limit
from sidecar.work.replies import CollectedReply, collect
from sidecar.work.roster import SET_MODE, Agent
from sidecar.work.tool_selection import MORE_TOOLS, ToolSelection
from sidecar.work.turn_limits import TurnLimits

#: Stands for an empty reply: no provider takes an empty turn back.
NO_TEXT = "(nothing)"
#: The failure code for a request that is larger than the model takes.
_OVERFLOW = "context_overflow"


class TurnLog(Protocol):
    """Records an agent's turns. A recorded turn is not asked for again."""

    def recorded(self, key: StepKey) -> CollectedReply | None: ...

    async def begin(self) -> Sequence[UserMessage]:
        """The messages that the agent hasn't read yet. Raises `AgentError` if the budget is used up."""

    def show(self, key: StepKey, delta: Delta) -> None: ...

    def keep_partial(self, key: StepKey, text: str) -> None: ...

    def record(
        self, key: StepKey, messages: Sequence[UserMessage], reply: Reply, room: int, instructions: Sequence[str]
    ) -> CollectedReply: ...

    async def call(self, key: StepKey, calls: Sequence[ToolUse]) -> Sequence[ToolReturn]: ...

    def may_continue(self, key: StepKey) -> bool:
        """Whether an agent at its end takes this turn anyway.

        It did before, you sent a message that it hasn't read, or you resumed it where it was stopped.
        """

    def record_stop(self, key: StepKey) -> None:
        """The agent was stopped before this turn. Resuming the task lets it go on."""

    def widen(self, agent: Agent) -> None:
        """You let the agent use more tools."""

    def note_left_out(self, what: str) -> None:
        """Tell readers what the model no longer gets because its context window is full."""


@dataclass(slots=True)
class Job:
    """An agent's assignment. Its `key` stays the same after a restart.

    `history` may begin with what other agents of the task said and did; then the agent continues it.
    """

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
    #: The system prompt, if it isn't the agent's own.
    system: str = ""
    #: Replies of this step before; an earlier round counts as one.
    replies: int = 0
    #: Our own messages since the last reply; the record of the next turn keeps them.
    instructions: list[str] = field(default_factory=list)
    #: The agent and its tools once you let it edit.
    wider: tuple[Agent, Sequence[ToolInfo]] | None = None
    selection: ToolSelection = field(init=False)
    conversation: Conversation = field(init=False)

    def __post_init__(self) -> None:
        self.system = self.system or self.agent.prompt
        self.selection = ToolSelection(self.tools, self.history, external=self.external, first=self.agent.first)
        overhead = estimate_tokens(self.system) + self.selection.offered_size // BYTES_PER_TOKEN
        self.conversation = Conversation(partial(history_limit, self.model, overhead), self.history)

    def instruct(self, text: str) -> None:
        """Adds a message of ours to the conversation."""
        self.conversation.add(UserTurn(text=text))
        self.instructions.append(text)

    def add_reply(self, turn: ModelTurn) -> None:
        self.conversation.add(turn)
        self.replies += 1

    def widen(self) -> Agent | None:
        """The agent with the tools that it may ask for."""
        if self.wider is None:
            return None
        (self.agent, self.tools), self.wider = self.wider, None
        self.selection.widen(self.tools)
        return self.agent

    def request(self, messages: Sequence[UserMessage]) -> Request:
        history = [*self.history, *map(user_turn, messages)]
        offered = self.selection.offered
        return Request(self.agent.name, self.system, history, offered, self.brief, self.tools, self.replies)


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
        job.instructions.clear()
        for message in turn.messages:
            conversation.add(user_turn(message))
            limits.reset()
        reply = turn.reply
        if reply.stop is Stop.END and reply.text.strip():
            job.add_reply(ModelTurn(text=reply.text, kept=reply.kept))
            if not (job.steered and log.may_continue(key.of_turn(number + 1))):
                return reply.text
            note = None
        elif reply.stop is Stop.TOOL_USE:
            job.add_reply(ModelTurn(text=reply.text, calls=reply.calls, kept=reply.kept))
            returns = await _run_calls(job, log, key, reply.calls)
            conversation.add(ToolTurn(returns=returns))
            note = limits.after_calls(reply.calls, returns)
        elif reply.stop in (Stop.END, Stop.LENGTH):
            # Never run half a call.
            job.add_reply(ModelTurn(text=reply.text.strip() or NO_TEXT))
            note = limits.after_incomplete(reply)
        else:
            raise _error_of(reply)
        if isinstance(note, str):
            job.instruct(note)
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
        turn = log.record(key, messages, reply, room, job.instructions)
        if reply.failure is None or reply.failure.code != _OVERFLOW:
            return turn
        conversation.mark_overflow()
        room = conversation.limit
        if (left_out := conversation.fit(room)) is None:
            return turn


async def _run_calls(job: Job, log: TurnLog, key: StepKey, calls: Sequence[ToolUse]) -> list[ToolReturn]:
    """In the order of the calls. Calls about the conversation itself need no tool."""
    archive = job.conversation.archive
    own = {MORE_TOOLS: job.selection.fetch, RECALL: archive.answer}
    # What this conversation doesn't hold may be in past tasks.
    recalls = [each for each in calls if each.tool == RECALL]
    offered = bool(recalls) and any(tool.name == RECALL for tool in job.tools)
    passed_on = {each.id for each in recalls if offered and not archive.holds(each)}
    elsewhere = [each.tool not in own or each.id in passed_on for each in calls]
    others = [each for each, other in zip(calls, elsewhere, strict=True) if other]
    done = await log.call(key, others) if others else ()
    if any(each.tool == SET_MODE and each.status == "success" for each in done) and (agent := job.widen()):
        log.widen(agent)
    following = iter(done)
    return [next(following) if other else own[each.tool](each) for each, other in zip(calls, elsewhere, strict=True)]


def _error_of(reply: Reply) -> AgentError:
    failure = reply.failure or Failure(code=f"model_{reply.stop}", message=f"The model stopped early ({reply.stop}).")
    return AgentError(
        failure.code,
        failure.message,
        recoverable=failure.recoverable,
        retry=failure.retry and reply.stop is not Stop.DECLINED,
    )
