"""Runs a pipeline of steps. A finished step doesn't run again; a failed one is retried a few times."""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sidecar.engine.errors import AgentError, StepFailed
from sidecar.engine.steps import StepKey
from sidecar.telemetry.correlation import bind
from sidecar.wire.events import Event, RetryEvent, StepEvent
from sidecar.work.results import AgentResult, Results, parse_result, render_result

if TYPE_CHECKING:
    from sidecar.engine.run import TaskRun

ATTEMPTS = 3
FIRST_BACKOFF = 0.5


@dataclass(frozen=True, slots=True)
class Step:
    """`act` gets the results of earlier steps. `then` and `failed` return events that are recorded with its end."""

    key: StepKey
    agent: str
    message: str
    act: Callable[[Results], Awaitable[str]]
    then: Callable[[str], Sequence[Event]] = lambda value: ()
    failed: Callable[[], Sequence[Event]] = tuple


@dataclass(frozen=True, slots=True)
class Parallel:
    """Steps that run at the same time, each as soon as those that it comes `after` are done.

    They are in an order in which they could run one by one.
    """

    steps: tuple[Step, ...]
    after: Mapping[StepKey, Collection[StepKey]] = field(default_factory=dict)
    at_once: int = 4


@dataclass(frozen=True, slots=True)
class Unfold:
    """Stages that depend on the results so far; until then they count as `expected` steps.

    `make` is a pure function of the results, so a resumed task unfolds the same stages.
    """

    make: "Callable[[Results], Sequence[Stage]]"
    expected: int = 0


def agent_step(
    key: StepKey,
    message: str,
    act: Callable[[Results], Awaitable[AgentResult]],
    then: Callable[[str], Sequence[Event]] = lambda text: (),
    failed: Callable[[], Sequence[Event]] = tuple,
) -> Step:
    """An agent's step; `then` gets its text."""

    async def encode(results: Results) -> str:
        return (await act(results)).to_json()

    return Step(key, key.agent, message, encode, lambda body: then(render_result(parse_result(body))), failed)


Stage = Step | Parallel | Unfold
Pipeline = Sequence[Stage]


async def run_pipeline(pipeline: Pipeline, run: "TaskRun") -> Results:
    waiting = deque(pipeline)
    results: Results = {}
    number = 0
    while waiting:
        stage = waiting.popleft()
        if isinstance(stage, Unfold):
            waiting.extendleft(reversed(stage.make(results)))
            continue
        total = number + sum(_size(each) for each in (stage, *waiting))
        if isinstance(stage, Parallel):
            await _run_parallel(stage, number, total, results, run)
        else:
            results[stage.key] = await _run_step(number + 1, total, stage, results, run)
        number += _size(stage)
    return results


def _size(stage: Stage) -> int:
    if isinstance(stage, Unfold):
        return stage.expected
    return len(stage.steps) if isinstance(stage, Parallel) else 1


async def _run_parallel(stage: Parallel, number: int, total: int, results: Results, run: "TaskRun") -> None:
    slots = asyncio.Semaphore(stage.at_once)
    tasks: dict[StepKey, asyncio.Task[None]] = {}

    async def begin(place: int, step: Step) -> None:
        for key in stage.after.get(step.key, ()):
            await tasks[key]
        async with slots:
            results[step.key] = await _run_step(number + place, total, step, results, run)

    for place, step in enumerate(stage.steps, start=1):
        tasks[step.key] = asyncio.ensure_future(begin(place, step))
    try:
        await _join(tasks.values())
    except StepFailed:
        if stopped := run.fail_open_steps("Stopped because another step failed."):
            run.log.enqueue(*stopped)
            run.open_steps.clear()
        raise
    # In plan order, whichever finished first, so a resumed task reads the same.
    results.update({step.key: results.pop(step.key) for step in stage.steps})


async def _join(tasks: Collection[asyncio.Task[None]]) -> None:
    """If one fails or the task is cancelled, cancels the others and waits for them."""
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run_step(number: int, total: int, step: Step, results: Results, run: "TaskRun") -> str:
    def event(state: Literal["started", "completed", "failed"], message: str = step.message) -> StepEvent:
        return StepEvent(step=number, total=total, message=message, agent=step.agent, state=state)

    def ended(state: Literal["completed", "failed"], message: str = step.message) -> StepEvent:
        run.open_steps.pop(number, None)
        return event(state, message)

    if step.key in run.state.steps:
        return run.state.steps[step.key]
    run.open_steps[number] = event("started")
    run.log.enqueue(run.open_steps[number])
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with bind(step=number, agent=step.agent):
                value = await step.act(results)
            break
        except AgentError as error:
            if not error.retry or attempt == ATTEMPTS:
                run.log.enqueue(ended("failed", error.message), *step.failed())
                raise StepFailed(error.code, error.message, recoverable=error.recoverable) from error
            run.log.enqueue(RetryEvent(attempt=attempt + 1, of=ATTEMPTS, hints=[], error=error.message))
            await asyncio.sleep(backoff(attempt))
    await run.record_step(step.key, value, ended("completed"), *step.then(value))
    return value


def backoff(attempt: int) -> float:
    """Doubles each time, with jitter, so that steps that failed together don't retry together."""
    return FIRST_BACKOFF * float(2 ** (attempt - 1)) * random.uniform(0.5, 1.0)  # noqa: S311 - not a secret
