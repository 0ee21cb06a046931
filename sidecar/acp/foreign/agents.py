"""Runs a step of a task by an external agent: one recorded call, with the files that it changed and its outcome."""

import asyncio
import time
from typing import TYPE_CHECKING

from sidecar.acp.foreign.process import AgentProcesses
from sidecar.acp.foreign.session import AgentSession
from sidecar.engine.errors import AgentError
from sidecar.engine.steps import CallKey, StepKey
from sidecar.wire.base import ErrorBody, ToolStatus
from sidecar.wire.events import MessageEvent, ToolEvent
from sidecar.work.roster import Agent
from tools.ledger import IntentRecord, Outcome
from tools.shield import run_to_completion
from tools.text import first_words

if TYPE_CHECKING:
    from sidecar.engine.run import TaskRun
    from tools.executor.executor import Executor

TOOL = "foreign_agent"
_AGAIN = "You, or another agent, began with this and was cut off. Look at the files before you go on."


class ForeignAgents:
    def __init__(self, executor: "Executor", processes: AgentProcesses) -> None:
        self._executor = executor
        self._processes = processes

    async def work(self, run: "TaskRun", key: StepKey, agent: Agent, text: str) -> str:
        if run.request.options.approvals == "readonly":
            message = f"The agent {agent.name} brings its own tools, so it can't be kept from changing files."
            raise AgentError("readonly", f"{message} Choose another agent, or allow changes.", retry=False)
        call, repeated = await self._next_call(run, key)
        workspace, began = run.request.workspace, time.monotonic()
        tracker = self._executor.tracker
        host = self._executor.host(workspace)
        window, scan, blobs = await tracker.open(host, workspace, run.ledger)
        intent = IntentRecord(tool=TOOL, args={"agent": agent.name}, backend="local", scan=scan)
        await run.ledger.intend(call, intent, _event(call, agent, "running", ""), blobs)
        ended = Outcome(status="cancelled", content="", summary="cut off", duration_ms=0)
        try:
            prompt = "\n\n".join(filter(None, (agent.text, text, _AGAIN if repeated else "")))
            answer = self._executor.redact(await self._prompt(run, agent, call, prompt))
            ended = Outcome(status="success", content=answer, summary=first_words(answer, 200), duration_ms=0)
        except AgentError as error:
            body = ErrorBody(code=error.code, message=error.message)
            ended = Outcome(status="error", content="", summary=error.message, error=body, duration_ms=0)
            raise
        finally:
            ended = ended.model_copy(update={"duration_ms": round((time.monotonic() - began) * 1000, 1)})
            changes = await run_to_completion(tracker.end(window))
            outcome = changes.add_to(ended)
            if run.origin:
                # Nothing else works in the task's own worktree.
                files = [file.model_copy(update={"doubt": None}) for file in outcome.files]
                outcome = outcome.model_copy(update={"files": files})
            event = _event(call, agent, outcome.status, outcome.summary, outcome)
            await run_to_completion(run.ledger.settle(call, outcome, event, changes.blobs))
            await run_to_completion(tracker.forget(window))
        await run.log.append(MessageEvent(message_id=call, role="assistant", agent=agent.name, text=answer))
        return answer

    async def _prompt(self, run: "TaskRun", agent: Agent, call: str, text: str) -> str:
        async with self._processes.start(agent, call, run.request.workspace) as connection:
            session = AgentSession(run, self._executor, agent, call, connection)
            try:
                return await session.prompt(text)
            except asyncio.CancelledError:
                session.stop()
                raise

    async def _next_call(self, run: "TaskRun", key: StepKey) -> tuple[str, bool]:
        """The id of the next try, and whether there was one before; one that was cut off is settled first."""
        call = CallKey(run.task_id, key.of_turn(0), "agent", run.state.branch)
        while str(call) in run.state.intents:
            name = str(call)
            if name not in run.state.outcomes:
                left = {name: run.state.intents[name]}
                await self._executor.abandon(left, run.request.workspace, run.ledger)
            call = call._replace(repeat=call.repeat + 1)
        return str(call), call.repeat > 0


def _event(call: str, agent: Agent, status: ToolStatus, summary: str, outcome: Outcome | None = None) -> ToolEvent:
    return ToolEvent(
        call_id=call,
        tool=TOOL,
        status=status,
        args={"agent": agent.name},
        summary=summary,
        duration_ms=outcome.duration_ms if outcome else 0,
        cached=False,
        executor="agent",
        error=outcome.error if outcome else None,
        details=outcome.details if outcome else None,
    )
