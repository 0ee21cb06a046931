"""An agent's log: its turns are the task's steps, its calls go through the executor."""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial

from sidecar.engine.run import TaskRun
from sidecar.engine.steps import StepKey
from sidecar.models.port import Delta, Model, Reply, ToolReturn, ToolUse
from sidecar.wire.base import JsonObject
from sidecar.wire.events import ModelEvent
from sidecar.work.replies import CollectedReply, collect
from sidecar.work.roster import Agent
from tools.executor.context import BatchContext, ToolCall
from tools.executor.executor import Executor
from tools.ledger import Outcome


class TaskTurnLog:
    def __init__(self, run: TaskRun, executor: Executor, agent: Agent, model: Model) -> None:
        self._run = run
        self._executor = executor
        self._agent = agent
        self._model = model
        #: Which of the person's messages are in the agent's conversation.
        self._heard: set[str] = set()

    async def turn(
        self, key: StepKey, agent: str, ask: Callable[[Sequence[str]], AsyncIterator[Delta | Reply]], room: int
    ) -> CollectedReply:
        turns, inbox = self._run.turns, self._run.inbox
        turn = turns.find(key)
        if turn is None:
            unread = inbox.unread(self._heard)
            await turns.begin()
            stream = ask([message.text for message in unread])
            reply = await collect(stream, partial(turns.show, key, agent), partial(turns.keep_partial, key, agent))
            turn = turns.record(key, agent, reply, [message.id for message in unread], room)
        if not turn.is_complete:
            return CollectedReply([], turn.reply)
        self._heard.update(turn.heard)
        return CollectedReply(inbox.mark_read(turn.heard), turn.reply)

    def room(self, key: StepKey) -> int | None:
        recorded = self._run.state.turns.get(key)
        return recorded.room if recorded else None

    async def call(self, key: StepKey, agent: Agent, calls: Sequence[ToolUse]) -> Sequence[ToolReturn]:
        run = self._run
        context = BatchContext(
            workspace=run.request.workspace,
            approvals=run.request.options.approvals,
            ledger=run.ledger,
            task_text=run.instruction,
            tools=frozenset(agent.tools),
        )
        # A call's id is its idempotency key, also for a shell that serves many tasks: no two tasks may share one.
        asked_for = [
            ToolCall(run.turns.call_id(key, number), call.tool, call.args, call.problem)
            for number, call in enumerate(calls)
        ]
        outcomes = await self._executor.batch(asked_for, context)
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

    def goes_on(self, key: StepKey) -> bool:
        run = self._run
        if key in run.state.turns:
            return True
        # What is only told again, because another goes on from there, ends where it ended.
        is_done = key.step in run.state.steps
        return not is_done and (run.turns.was_resumed_at(key) or bool(run.inbox.unread(self._heard)))

    def stopped(self, key: StepKey) -> None:
        self._run.turns.stop(key)

    def left_out(self, what: str) -> None:
        event = ModelEvent(role=self._agent.role, provider=self._model.provider, model=self._model.name, reason=what)
        self._run.log.enqueue(event)


def error_of(outcome: Outcome) -> tuple[str | None, str | None]:
    """The code and the message of a failed call."""
    return (outcome.error.code, outcome.error.message) if outcome.error else (None, None)


def details_of(outcome: Outcome) -> JsonObject:
    return outcome.details if isinstance(outcome.details, dict) else {}
