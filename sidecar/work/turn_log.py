"""Records an agent's turns in the task's log, and runs its calls through the executor."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sidecar.engine.state import TaskState, TurnRecord, UserMessage
from sidecar.engine.steps import StepKey
from sidecar.models.port import Delta, Model, Reply, ToolReturn, ToolUse
from sidecar.wire.base import JsonObject
from sidecar.wire.events import ModelEvent, PlanEvent, PlanItem
from sidecar.wire.tasks import Approvals
from sidecar.work.changes import has_edits
from sidecar.work.replies import CollectedReply
from sidecar.work.roster import Agent
from tools.executor.context import BatchContext, ToolCall
from tools.ledger import Outcome

if TYPE_CHECKING:
    from sidecar.engine.run import TaskRun
    from tools.executor.executor import Executor

#: Answers one call in a turn, such as `delegate`.
Answerer = Callable[[StepKey, int, ToolUse], Awaitable[ToolReturn]]
DELEGATE, TODO = "delegate", "todo"


class TaskTurnLog:
    def __init__(
        self,
        run: "TaskRun",
        executor: "Executor",
        agent: Agent,
        model: Model,
        *,
        read: Collection[str] = (),
        apart: bool = False,
        listens: bool = True,
        careful: bool = False,
        delegate: Answerer | None = None,
    ) -> None:
        self._run = run
        self._executor = executor
        self._agent = agent
        self._model = model
        #: Ids of your messages that are in the agent's conversation.
        self._read = set(read)
        self._apart = apart
        #: Whether it reads your messages.
        self._listens = listens
        #: Whether it asks before the first edit, because you may not have wanted one.
        self._careful = careful
        #: Calls that are answered without a tool, by the name that the model calls.
        self.answers: dict[str, Answerer] = {} if delegate is None else {DELEGATE: delegate}

    def recorded(self, key: StepKey) -> CollectedReply | None:
        turn = self._run.turns.find(key)
        return self._collected(turn) if turn is not None else None

    async def begin(self) -> Sequence[UserMessage]:
        unread = self._run.inbox.unread(self._read) if self._listens else []
        await self._run.turns.begin()
        return unread

    def show(self, key: StepKey, delta: Delta) -> None:
        self._run.turns.show(key, self._agent.name, delta)

    def keep_partial(self, key: StepKey, text: str) -> None:
        self._run.turns.keep_partial(key, self._agent.name, text)

    def record(
        self, key: StepKey, messages: Sequence[UserMessage], reply: Reply, room: int, instructions: Sequence[str]
    ) -> CollectedReply:
        read = [message.id for message in messages]
        window = self._model.capabilities.context_tokens
        named = f"{self._model.provider}/{self._model.name}"
        turn = self._run.turns.record(
            key, self._agent.name, reply, read, room, instructions, self._apart, window, named
        )
        return self._collected(turn)

    def _collected(self, turn: TurnRecord) -> CollectedReply:
        if not turn.is_complete:
            return CollectedReply([], turn.reply, turn.room)
        self._read.update(turn.heard)
        return CollectedReply(self._run.inbox.mark_read(turn.heard), turn.reply, turn.room)

    @property
    def _is_planning(self) -> bool:
        """Before you said to go ahead with its plan, a task that plans first only reads."""
        return bool(self._run.request.options.plan) and self._agent.name == "planner"

    async def call(self, key: StepKey, calls: Sequence[ToolUse]) -> Sequence[ToolReturn]:
        own = {number: call for number, call in enumerate(calls) if call.tool in self.answers}
        if not own:
            return await self._execute(key, dict(enumerate(calls)))
        found = dict(zip(own, await self._answer_all(key, own), strict=True))
        others = {number: call for number, call in enumerate(calls) if number not in own}
        if others:
            found.update(zip(others, await self._execute(key, others), strict=True))
        return [found[number] for number in range(len(calls))]

    async def _execute(self, key: StepKey, calls: Mapping[int, ToolUse]) -> Sequence[ToolReturn]:
        run = self._run
        context = BatchContext(
            workspace=run.request.workspace,
            conversation=run.request.conversation_id,
            approvals=self._approvals(),
            ledger=run.ledger,
            task_text=run.consent,
            tools=frozenset(self._agent.tools),
            unattended=not run.request.options.can_ask,
            external="all" if "run_command" in self._agent.tools else "reads",
            copy_of=tuple(filter(None, (run.origin,))),
        )
        # A call's id is its idempotency key, also in a shell that serves many tasks, so it includes the task.
        batch = [
            ToolCall(run.turns.call_id(key, number), call.tool, call.args, call.problem, str(key))
            for number, call in calls.items()
        ]
        known = {call.id for call in batch if call.id in run.state.outcomes}
        outcomes = await self._executor.batch(batch, context)
        for made, outcome in zip(batch, outcomes, strict=True):
            if made.tool == TODO and outcome.status == "success" and made.id not in known:
                items = [PlanItem.model_validate(item) for item in details_of(outcome).get("items") or ()]  # type: ignore[union-attr]
                run.log.enqueue(PlanEvent(items=items))
        return [tool_return(call, outcome) for call, outcome in zip(calls.values(), outcomes, strict=True)]

    async def _answer_all(self, key: StepKey, calls: Mapping[int, ToolUse]) -> Sequence[ToolReturn]:
        """Questions are answered at the same time; work that may change files is done in order."""
        asked = [partial(self.answers[call.tool], key, number, call) for number, call in calls.items()]
        if all(call.args.get("tools", "read") == "read" for call in calls.values()):
            return await asyncio.gather(*(ask() for ask in asked))
        return [await ask() for ask in asked]

    def _approvals(self) -> Approvals:
        if self._is_planning:
            return "readonly"
        wanted = self._run.request.options.approvals
        if self._careful and wanted == "ask" and not has_edits(self._run.state):
            return "edits"
        return wanted

    def widen(self, agent: Agent) -> None:
        """The agent may use more tools from now on."""
        self._agent = agent

    def may_continue(self, key: StepKey) -> bool:
        run = self._run
        if key in run.state.turns:
            return True
        # A finished step is only replayed for its conversation, so it ends where it ended.
        is_done = key.step in run.state.steps
        return not is_done and (run.turns.was_resumed_at(key) or bool(run.inbox.unread(self._read)))

    def record_stop(self, key: StepKey) -> None:
        self._run.turns.stop(key)

    def note_left_out(self, what: str) -> None:
        event = ModelEvent(role=self._agent.role, provider=self._model.provider, model=self._model.name, reason=what)
        self._run.log.enqueue(event)


def last_todo(state: TaskState, round_number: int) -> list[tuple[str, str]] | None:
    """Title and state of each item in the newest todo list of the round; None if there is none."""
    for key, turn in reversed(state.turns.items()):
        for call in reversed(turn.reply.calls):
            items = call.args.get("items")
            if key.round == round_number and not turn.apart and call.tool == TODO and isinstance(items, list):
                return [(str(each.get("title")), str(each.get("state"))) for each in items if isinstance(each, dict)]
    return None


def tool_return(call: ToolUse, outcome: Outcome) -> ToolReturn:
    code, message = error_of(outcome)
    return ToolReturn(
        id=call.id,
        tool=call.tool,
        status=outcome.status,
        content=outcome.content,
        advice=outcome.error.advice if outcome.error else None,
        code=code,
        message=message,
        details=details_of(outcome),
    )


def error_of(outcome: Outcome) -> tuple[str | None, str | None]:
    """The code and the message of a failed call."""
    return (outcome.error.code, outcome.error.message) if outcome.error else (None, None)


def details_of(outcome: Outcome) -> JsonObject:
    return outcome.details if isinstance(outcome.details, dict) else {}


def delegated_step(key: StepKey, number: int) -> StepKey:
    """The step of the agent that answers this call; the same in every run of the task."""
    return key.step.of_part(DELEGATE, zlib.crc32(f"{key} {number}".encode()))
