"""What comes in the moment in which a task begins or ends: it ends once, as it should, and gives its place back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sidecar.engine.engine import Engine
from sidecar.engine.errors import StepFailed
from sidecar.engine.operations import Cancel, SendMessage
from sidecar.engine.run import TaskRun
from sidecar.engine.state import UserMessage
from sidecar.engine.worker import Worker
from sidecar.journal.port import Claim, NewTask, Record, StoredEvent
from sidecar.wire.events import Event, StatusEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest, TaskResult, Usage
from tests.support.engine import engine_harness
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import SECONDS, loop_turns, until_true
from tools.host import Host

REQUEST = StoredRequest(task="x", workspace="/w", conversation_id="c_1", context=Context(), options=Options())
CANCELLING = StatusEvent(status=Status.CANCELLING)
AT_WORK = frozenset({Status.QUEUED, Status.RUNNING})


class Work:
    """Does what it is told, and tidies up when it may."""

    def __init__(self, act: Callable[[], Awaitable[None]]) -> None:
        self._act = act
        self.tidying = asyncio.Event()
        self.may_tidy = asyncio.Event()
        self.may_tidy.set()

    async def carry_out(self, run: TaskRun) -> TaskResult:
        await self._act()
        return TaskResult(summary="done", files_modified=[], verification=None, usage=Usage())

    async def abandon(self, run: TaskRun) -> None:
        pass

    async def tidy(self, run: TaskRun) -> None:
        self.tidying.set()
        await self.may_tidy.wait()

    def missed(self, run: TaskRun) -> Sequence[UserMessage]:
        return ()

    async def suggest_command(self, asked: str, workspace: str) -> str | None:
        return None


@asynccontextmanager
async def a_worker(journal: ScratchJournal, work: Work, slots: int = 1) -> AsyncIterator[Worker]:
    worker = Worker(journal, work, "me", slots)
    worker.start()
    try:
        yield worker
    finally:
        work.may_tidy.set()
        await worker.stop()


async def _forever() -> None:
    await asyncio.Event().wait()


async def _statuses(journal: ScratchJournal, task_id: str) -> list[str]:
    events = (await journal.events(task_id)).events
    return [event.data.split('"status":"')[1].split('"')[0] for event in events if event.type == "status"]


async def _ended(journal: ScratchJournal, task_id: str) -> Status:
    async with asyncio.timeout(SECONDS):
        async for _ in journal.tail(task_id):
            pass
    return (await journal.task(task_id)).status


async def test_one_that_is_cancelled_when_it_was_claimed_and_has_not_begun_ends_as_cancelled() -> None:
    journal = ScratchJournal()
    async with a_worker(journal, Work(_forever)) as worker:
        await journal.create(NewTask("t_1", REQUEST, [StatusEvent(status=Status.QUEUED)]))
        worker.wake()
        async with asyncio.timeout(SECONDS):
            while worker.run_of("t_1") is None:
                await loop_turns()
        cancelling = journal.append("t_1", [CANCELLING], when=AT_WORK)
        assert worker.cancel("t_1")
        await cancelling
        assert await _ended(journal, "t_1") is Status.CANCELLED
        assert await _statuses(journal, "t_1") == ["queued", "cancelling", "cancelled"], "it had begun"


async def test_one_that_is_cancelled_while_it_tidies_up_after_a_failure_ends_as_cancelled() -> None:
    async def fails() -> None:
        raise StepFailed("no", "It did not work.", recoverable=False)

    journal, work = ScratchJournal(), Work(fails)
    work.may_tidy.clear()
    async with a_worker(journal, work) as worker:
        await journal.create(NewTask("t_1", REQUEST, [StatusEvent(status=Status.QUEUED)]))
        worker.wake()
        async with asyncio.timeout(SECONDS):
            await work.tidying.wait()
        await journal.append("t_1", [CANCELLING], when=AT_WORK)
        assert worker.cancel("t_1")
        # By now everything that will be interrupted is.
        await loop_turns(5)
        work.may_tidy.set()
        assert await _ended(journal, "t_1") is Status.CANCELLED
        assert await _statuses(journal, "t_1") == ["queued", "running", "cancelling", "cancelled"]


async def test_one_that_goes_on_in_the_moment_it_ends_can_be_cancelled_and_gives_back_both_its_places() -> None:
    class Impatient(ScratchJournal):
        """Somebody resumes the first task as soon as its end is written, before the worker has heard of that."""

        def append(self, task_id: str, events: Sequence[Event] = (), *more: Any, **options: Any) -> Any:
            ends = any(isinstance(event, StatusEvent) and event.status is Status.COMPLETED for event in events)
            written = super().append(task_id, events, *more, **options)
            if ends:
                super().append(task_id, [StatusEvent(status=Status.QUEUED, reason="resumed")])
                worker.wake()
            return written

    lives = 0

    async def once_and_then_forever() -> None:
        nonlocal lives
        lives += 1
        if lives > 1:
            await _forever()

    journal = Impatient()
    async with a_worker(journal, Work(once_and_then_forever), slots=2) as worker:
        await journal.create(NewTask("t_1", REQUEST, [StatusEvent(status=Status.QUEUED)]))
        worker.wake()
        await until_true(lambda: lives == 2)
        await journal.append("t_1", [CANCELLING], when=AT_WORK)
        assert worker.cancel("t_1"), "it is at work"
        await until_true(lambda: not worker.busy)
        for task_id in ("t_2", "t_3"):
            await journal.create(NewTask(task_id, REQUEST, [StatusEvent(status=Status.QUEUED)]))
        worker.wake()
        await until_true(lambda: lives == 4)


async def test_a_cancel_that_finds_somebody_else_has_finished_it_meanwhile_is_accepted(tmp_path: Path) -> None:
    class Slow(ScratchJournal):
        """A read of the queued task's records returns once the task at work has ended."""

        waits_for: str | None = None

        async def records(self, task_id: str) -> Sequence[Record]:
            if task_id == self.waits_for:
                await harness.submit(Cancel(at_work))
                await harness.ended(task_id)
            return await super().records(task_id)

    journal = Slow()
    async with engine_harness(tmp_path, journal, slots=1) as harness:
        models = harness.script("slow", [{"text": "ok", "delayMs": 60_000}])
        at_work = await harness.execute("work", models=models, intent="edit_code")
        await harness.reached(at_work, Status.RUNNING)
        queued = journal.waits_for = await harness.execute("wait", models=models, intent="edit_code")
        assert await harness.submit(Cancel(queued)) == queued
        assert (await journal.task(queued)).status is Status.CANCELLED
        assert await _statuses(journal, queued) == ["queued", "cancelling", "cancelled"]


async def test_a_command_that_a_stop_kept_from_beginning_is_not_said_to_have_run_perhaps(tmp_path: Path) -> None:
    class SlowDisk(ScratchJournal):
        """What must be on the disk itself is on its way there for good; everything else is written."""

        asked = asyncio.Event()

        def append(self, *what: Any, sync: bool = False, **options: Any) -> Any:
            written = super().append(*what, sync=sync, **options)
            if sync:
                self.asked.set()
                return asyncio.get_running_loop().create_future()
            return written

    journal = SlowDisk()
    async with engine_harness(tmp_path, journal) as harness:
        command = {"tool": "run_command", "args": {"command": "echo 1 >> log.txt"}}
        models = harness.script("play", [{"calls": [command]}, {"text": "done"}])
        task_id = await harness.execute("do it", models=models, intent="run_command", approvals="auto")
        async with asyncio.timeout(SECONDS):
            await journal.asked.wait()
    async with engine_harness(tmp_path, journal) as harness:
        assert (await harness.ended(task_id)).status is Status.COMPLETED
        tools = [event for event in await harness.events(task_id) if event["type"] == "tool"]
        assert [tool["status"] for tool in tools] == ["running", "cancelled"]
        outcomes = [record.body for record in await journal.records(task_id) if record.kind == "outcome"]
        assert len(outcomes) == 1
        assert "Cancelled before it began." in outcomes[0]
    assert not (harness.workspace / "log.txt").exists()


async def test_a_message_that_comes_while_a_resumed_task_is_claimed_is_heard(tmp_path: Path) -> None:
    class FarAway(ScratchJournal):
        """Does everything at once and in order, but answers a while later."""

        async def claim(self, owner: str, now: float, lease: float) -> Claim | None:
            claim = await super().claim(owner, now, lease)
            if claim is not None:
                claimed.set()
            await loop_turns(10)
            return claim

        def append(self, *args: Any, **options: Any) -> asyncio.Future[Sequence[StoredEvent]]:
            written = super().append(*args, **options)

            async def told() -> Sequence[StoredEvent]:
                await loop_turns(10)
                return await written

            return asyncio.ensure_future(told())

    class Hears(Work):
        heard: frozenset[str] = frozenset()
        texts: frozenset[str] = frozenset()

        async def carry_out(self, run: TaskRun) -> TaskResult:
            self.texts = frozenset(message.text for message in run.state.messages)
            self.heard = frozenset(message.id for message in run.state.messages)
            return await super().carry_out(run)

        def missed(self, run: TaskRun) -> Sequence[UserMessage]:
            return [message for message in run.state.messages if message.id not in self.heard]

    async def nothing_left_to_do() -> None:
        pass

    claimed, journal, work = asyncio.Event(), FarAway(), Hears(nothing_left_to_do)
    engine = Engine(journal, work, _no_host, tmp_path, slots=1, max_queued=9)  # type: ignore[arg-type]
    done = [Record("step", "r1.route", "")]
    await journal.create(NewTask("t_1", REQUEST, [StatusEvent(status=Status.QUEUED)], records=done))
    await engine.start()
    try:
        async with asyncio.timeout(SECONDS):
            await claimed.wait()
            await engine.submit(SendMessage("t_1", "and more"))
        assert await _ended(journal, "t_1") is Status.COMPLETED
        assert work.texts == {"and more"}
    finally:
        await engine.stop()


def _no_host(workspace: str) -> Host:
    raise AssertionError("no file is looked at")
