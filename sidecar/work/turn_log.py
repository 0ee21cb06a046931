"""Records an agent's turns in the task's log, and runs its calls through the executor."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sidecar.engine.run import TaskRun
from sidecar.engine.state import TurnRecord, UserMessage
from sidecar.engine.steps import StepKey
from sidecar.models.port import Delta, Model, Reply, ToolReturn, ToolUse
from sidecar.wire.base import JsonObject
from sidecar.wire.events import ModelEvent
from sidecar.work.replies import CollectedReply
from sidecar.work.roster import Agent
from tools.executor.context import BatchContext, ToolCall
from tools.ledger import Outcome

if TYPE_CHECKING:
    from tools.executor.executor import Executor


class TaskTurnLog:
    def __init__(self, run: TaskRun, executor: "Executor", agent: Agent, model: Model) -> None:
        self._run = run
        self._executor = executor
        self._agent = agent
        self._model = model
        #: Ids of your messages that are in the agent's conversation.
        self._read: set[str] = set()

    def recorded(self, key: StepKey) -> CollectedReply | None:
        turn = self._run.turns.find(key)
        return self._collected(turn) if turn is not None else None

    async def begin(self) -> Sequence[UserMessage]:
        unread = self._run.inbox.unread(self._read)
        await self._run.turns.begin()
        return unread

    def show(self, key: StepKey, delta: Delta) -> None:
        self._run.turns.show(key, self._agent.name, delta)

    def keep_partial(self, key: StepKey, text: str) -> None:
        self._run.turns.keep_partial(key, self._agent.name, text)

    def record(self, key: StepKey, messages: Sequence[UserMessage], reply: Reply, room: int) -> CollectedReply:
        read = [message.id for message in messages]
        return self._collected(self._run.turns.record(key, self._agent.name, reply, read, room))

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
        run = self._run
        context = BatchContext(
            workspace=run.request.workspace,
            approvals="readonly" if self._is_planning else run.request.options.approvals,
            ledger=run.ledger,
            task_text=run.instruction if run.request.options.by_person else "",
            tools=frozenset(self._agent.tools),
            unattended=not run.request.options.can_ask,
            external="all" if "run_command" in self._agent.tools else "reads",
        )
        # A call's id is its idempotency key, also in a shell that serves many tasks, so it includes the task.
        batch = [
            ToolCall(run.turns.call_id(key, number), call.tool, call.args, call.problem, str(key))
            for number, call in enumerate(calls)
        ]
        outcomes = await self._executor.batch(batch, context)
        return [
            ToolReturn(
                id=call.id,
                tool=call.tool,
                status=outcome.status,
                content=outcome.content,
                advice=outcome.error.advice if outcome.error else None,
                code=error_of(outcome)[0],
                message=error_of(outcome)[1],
                details=details_of(outcome),
            )
            for call, outcome in zip(calls, outcomes, strict=True)
        ]

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


def error_of(outcome: Outcome) -> tuple[str | None, str | None]:
    """The code and the message of a failed call."""
    return (outcome.error.code, outcome.error.message) if outcome.error else (None, None)


def details_of(outcome: Outcome) -> JsonObject:
    return outcome.details if isinstance(outcome.details, dict) else {}
