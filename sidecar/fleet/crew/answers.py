"""Asks an agent for data: it answers by calling a tool whose arguments code checks, never in prose."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from sidecar.engine.errors import AgentError
from sidecar.engine.steps import StepKey
from sidecar.fleet.crew.plan import BadAnswer
from sidecar.models.port import ToolReturn, ToolUse
from sidecar.wire.base import JsonObject
from sidecar.work.loop import Job, run_agent
from sidecar.work.turn_log import TaskTurnLog
from tools.spec import ToolSpec

T = TypeVar("T")


class _Answered(Exception):
    """Ends the agent's work; its answer is kept."""


async def ask(job: Job, log: TaskTurnLog, tool: ToolSpec, parse: Callable[[JsonObject], T]) -> T:
    """The arguments of the first call of `tool` that `parse` takes. What `parse` refuses, the agent reads."""
    job = replace(job, tools=[*job.tools, tool.offer()])
    job.selection.offer(tool.offer())
    given: list[T] = []

    async def answer(turn: StepKey, number: int, call: ToolUse) -> ToolReturn:
        try:
            given.append(parse(call.args))
        except BadAnswer as problem:
            said = f"That can't be used: {call.problem or problem}. Call {tool.name} again."
            return ToolReturn(id=call.id, tool=call.tool, status="error", content=said, code="invalid_arguments")
        raise _Answered

    log.answers[tool.name] = answer
    try:
        await run_agent(job, log)
        job.tell(f"Answer by calling {tool.name}, and only by that.")
        await run_agent(job, log, job.key.of_repair())
    except _Answered:
        return given[0]
    message = f"The {job.agent.name} answered in prose, twice, instead of calling {tool.name}. Choose another model."
    raise AgentError("no_answer", message, retry=False)
