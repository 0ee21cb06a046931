"""An agent's books: its turns are the task's steps, its calls go through the executor."""

from collections.abc import AsyncIterator, Callable, Sequence

from sidecar.agents.loop import Heard
from sidecar.agents.roster import Agent
from sidecar.engine.run import TaskRun
from sidecar.models.port import Delta, Model, Reply, ToolReturn, ToolUse
from sidecar.wire.events import ModelEvent
from tools.executor import BatchContext, Executor, ToolCall


class AgentBooks:
    def __init__(self, run: TaskRun, executor: Executor, agent: Agent, model: Model) -> None:
        self._run = run
        self._executor = executor
        self._agent = agent
        self._model = model

    async def turn(self, key: str, agent: str, ask: Callable[[Sequence[str]], AsyncIterator[Delta | Reply]]) -> Heard:
        return await self._run.turn(key, agent, ask)

    async def call(self, key: str, agent: Agent, calls: Sequence[ToolUse]) -> Sequence[ToolReturn]:
        run = self._run
        context = BatchContext(
            workspace=run.request.workspace,
            approvals=run.request.options.approvals,
            ledger=run,
            task_text=run.asked,
            tools=frozenset(agent.tools),
        )
        # A call's id is its idempotency key, also for a shell that serves many tasks: no two tasks may share one.
        asked_for = [
            ToolCall(run.call_id(key, number), call.tool, call.args, call.problem) for number, call in enumerate(calls)
        ]
        outcomes = await self._executor.batch(asked_for, context)
        return [
            ToolReturn(id=call.id, tool=call.tool, status=outcome.status, content=outcome.content)
            for call, outcome in zip(calls, outcomes, strict=True)
        ]

    def spoken(self) -> bool:
        return self._run.spoken()

    def left_out(self, what: str) -> None:
        event = ModelEvent(role=self._agent.role, provider=self._model.provider, model=self._model.name, reason=what)
        self._run.note(event)
