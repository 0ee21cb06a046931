import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from sidecar.engine.approvals import Slots
from sidecar.engine.errors import AgentError, StepFailed
from sidecar.engine.run import TaskRun
from sidecar.engine.steps import StepKey
from sidecar.journal.port import NewTask, StoredEvent
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest
from sidecar.work.pipeline import Parallel, Step, run_pipeline
from sidecar.work.results import Results
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import SECONDS, until_true


async def a_run(journal: ScratchJournal, now: float = 0) -> TaskRun:
    claim = await journal.claim("test", now=now, lease=10)
    assert claim is not None
    return TaskRun(claim, journal, Slots(1, lambda: None))


@pytest.fixture
async def journal() -> ScratchJournal:
    journal = ScratchJournal()
    request = StoredRequest(task="x", workspace="/", conversation_id="c", context=Context(), options=Options())
    await journal.create(NewTask("t_1", request, [StatusEvent(status=Status.QUEUED)]))
    return journal


def named(name: str, act: Callable[[Results], Awaitable[str]]) -> Step:
    return Step(StepKey(1, name, 1), "coder", name, act)


def by_name(results: Results) -> dict[str, str]:
    return {key.name: value for key, value in results.items()}


def returning(key: str, value: str, seen: list[str]) -> Step:
    async def act(results: Results) -> str:
        seen.append(f"{key}<{','.join(results.values())}")
        return value

    return named(key, act)


async def test_each_step_gets_what_the_earlier_ones_returned(journal: ScratchJournal) -> None:
    seen: list[str] = []
    results = await run_pipeline([returning("a", "1", seen), returning("b", "2", seen)], await a_run(journal))
    assert by_name(results) == {"a": "1", "b": "2"}
    assert seen == ["a<", "b<1"]


async def test_a_step_that_is_done_is_not_done_again_in_another_life(journal: ScratchJournal) -> None:
    seen: list[str] = []
    pipeline = [returning("a", "1", seen), returning("b", "2", seen)]
    await run_pipeline(pipeline[:1], await a_run(journal))
    results = await run_pipeline(pipeline, await a_run(journal, now=20))
    assert by_name(results) == {"a": "1", "b": "2"}
    assert seen == ["a<", "b<1"]


async def test_parallel_steps_run_together_and_each_is_a_checkpoint(journal: ScratchJournal) -> None:
    meeting = asyncio.Barrier(3)

    def meets(key: str) -> Step:
        async def act(results: Results) -> str:
            async with asyncio.timeout(SECONDS):
                await meeting.wait()
            return key

        return named(key, act)

    run = await a_run(journal)
    results = await run_pipeline([Parallel((meets("a"), meets("b"), meets("c")))], run)
    assert by_name(results) == {"a": "a", "b": "b", "c": "c"}
    assert {record.key for record in await journal.records("t_1")} == {"r1.1-a", "r1.1-b", "r1.1-c"}
    (task,) = await journal.tasks()
    assert task.progress.total == 3


async def test_a_step_begins_as_soon_as_those_are_done_that_it_comes_after(journal: ScratchJournal) -> None:
    """The second ends only when the third has begun: nobody waits for it in vain."""
    begun = asyncio.Event()
    order: list[str] = []

    def step(key: str, wait: bool = False) -> Step:
        async def act(results: Results) -> str:
            order.append(f"{key} knows {sorted(by_name(results))}")
            if key == "third":
                begun.set()
            if wait:
                async with asyncio.timeout(SECONDS):
                    await begun.wait()
            return key

        return named(key, act)

    steps = (step("first"), step("second", wait=True), step("third"))
    results = await run_pipeline([Parallel(steps, {steps[2].key: [steps[0].key]}, at_once=2)], await a_run(journal))
    assert order[-1] == "third knows ['first']"
    assert list(by_name(results)) == ["first", "second", "third"]


async def test_when_one_of_several_fails_the_others_have_ended_before_anybody_goes_on(journal: ScratchJournal) -> None:
    ended = asyncio.Event()

    async def fail(results: Results) -> str:
        raise AgentError("x", "no", retry=False)

    async def wait(results: Results) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    steps = Parallel((named("a", wait), named("b", fail)))
    run = await a_run(journal)
    with pytest.raises(StepFailed):
        await run_pipeline([steps], run)
    assert ended.is_set()
    await run.log.append()
    told = [json.loads(event.data) for event in (await journal.events(run.task_id)).events if event.type == "step"]
    assert [(event["step"], event["state"]) for event in told] == [
        (1, "started"),
        (2, "started"),
        (2, "failed"),
        (1, "failed"),
    ]


async def test_a_step_that_was_done_when_another_failed_is_reported_as_done_alone() -> None:
    class Slow(ScratchJournal):
        """Writes, but an append that is awaited returns only if it fails."""

        def append(self, *args: Any, **options: Any) -> asyncio.Future[Sequence[StoredEvent]]:
            written = super().append(*args, **options)
            done.set()
            never: asyncio.Future[Sequence[StoredEvent]] = asyncio.get_running_loop().create_future()

            def pass_on(ended: asyncio.Future[Sequence[StoredEvent]]) -> None:
                if (error := ended.exception()) is not None:
                    never.set_exception(error)

            written.add_done_callback(pass_on)
            return never

    done = asyncio.Event()
    journal = Slow()
    request = StoredRequest(task="x", workspace="/", conversation_id="c", context=Context(), options=Options())
    await journal.create(NewTask("t_1", request, [StatusEvent(status=Status.QUEUED)]))
    run = await a_run(journal)

    async def fail(results: Results) -> str:
        await done.wait()
        raise AgentError("x", "no", retry=False)

    steps = Parallel((returning("a", "1", []), named("b", fail)))
    with pytest.raises(StepFailed):
        await run_pipeline([steps], run)
    run.log.compare_and_set(StatusEvent(status=Status.FAILED), when=frozenset({Status.QUEUED}))

    async def written() -> bool:
        return (await journal.task(run.task_id)).status is Status.FAILED

    await until_true(written)
    told = [json.loads(event.data) for event in (await journal.events(run.task_id)).events if event.type == "step"]
    assert [event["state"] for event in told if event["step"] == 1] == ["started", "completed"]
    assert [event["state"] for event in told if event["step"] == 2] == ["started", "failed"]


async def test_steps_that_are_interrupted_have_not_failed(journal: ScratchJournal) -> None:
    both = asyncio.Barrier(3)

    async def wait(results: Results) -> str:
        await both.wait()
        await asyncio.Event().wait()
        return ""

    run = await a_run(journal)
    steps = Parallel((named("a", wait), named("b", wait)))
    work = asyncio.create_task(run_pipeline([steps], run))
    async with asyncio.timeout(SECONDS):
        await both.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    await run.log.append()
    told = [json.loads(event.data) for event in (await journal.events(run.task_id)).events if event.type == "step"]
    assert [event["state"] for event in told] == ["started", "started"]


async def test_a_step_that_succeeds_at_the_second_try_is_a_success(
    journal: ScratchJournal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sidecar.work.pipeline.FIRST_BACKOFF", 0.001)
    tries: list[int] = []

    async def act(results: Results) -> str:
        tries.append(1)
        if len(tries) == 1:
            raise AgentError("busy", "not now")
        return "ok"

    assert by_name(await run_pipeline([named("a", act)], await a_run(journal))) == {"a": "ok"}
