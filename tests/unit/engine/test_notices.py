"""Which changes of a task's status become notifications."""

import asyncio

import pytest

from sidecar.engine import notices
from sidecar.engine.notices import MOST, TaskNotices
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import Status, Task
from tests.contract.journals import COMPLETED, RUNNING, new_task
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import loop_turns, until_true


class RecordingNotifier:
    def __init__(self, *, clicked: bool = False) -> None:
        self.clicked = clicked
        self.said: list[tuple[str, str]] = []

    async def notify(self, title: str, text: str) -> bool:
        self.said.append((title, text))
        return self.clicked


async def take(notifier: RecordingNotifier, *events: StatusEvent, journal: ScratchJournal | None = None) -> list[str]:
    """The tasks that were opened."""
    journal, opened = journal or ScratchJournal(), list[str]()
    await journal.create(new_task("t_1"))

    async def open_task(task_id: str) -> None:
        opened.append(task_id)

    shown = TaskNotices(journal, lambda: notifier, open_task)
    for event in events:
        await journal.append("t_1", [event])
        shown.take("t_1", event)
        async with asyncio.timeout(60):
            while shown._shown:
                await asyncio.gather(*shown._shown)
    return opened


async def test_a_task_that_waits_fails_or_needs_you_is_shown_and_a_click_opens_it() -> None:
    notifier = RecordingNotifier(clicked=True)
    waiting = StatusEvent(status=Status.WAITING, reason="run_command needs approval")
    opened = await take(notifier, RUNNING, waiting, StatusEvent(status=Status.FAILED, reason="no model"))
    assert notifier.said == [
        ("A task waits for you", "do t_1: run_command needs approval"),
        ("A task failed", "do t_1: no model"),
    ]
    assert opened == ["t_1", "t_1"]


async def test_the_end_of_a_short_task_is_no_news(monkeypatch: pytest.MonkeyPatch) -> None:
    notifier = RecordingNotifier()
    assert await take(notifier, RUNNING, COMPLETED) == []
    assert notifier.said == []
    monkeypatch.setattr(notices, "LONG_SECONDS", 0)
    await take(notifier, RUNNING, COMPLETED)
    assert notifier.said == [("A task is done", "do t_1")]


async def test_a_long_task_that_an_earlier_process_began_is_news_when_it_ends() -> None:
    class LongAgo(ScratchJournal):
        async def task(self, task_id: str) -> Task:
            task = await super().task(task_id)
            return task.model_copy(update={"started_at": "2020-01-01T00:00:00+00:00"})

    interrupted, notifier = StatusEvent(status=Status.INTERRUPTED), RecordingNotifier()
    await take(notifier, interrupted, RUNNING, COMPLETED, journal=LongAgo())
    assert notifier.said == [("A task is done", "do t_1")]


async def test_a_flood_of_notices_is_limited() -> None:
    class Unseen:
        started = 0

        async def notify(self, title: str, text: str) -> bool:
            self.started += 1
            await asyncio.Event().wait()
            return False

    async def open_task(task_id: str) -> None: ...

    journal, unseen = ScratchJournal(), Unseen()
    await journal.create(new_task("t_1"))
    shown = TaskNotices(journal, lambda: unseen, open_task)
    for _ in range(50):
        shown.take("t_1", StatusEvent(status=Status.WAITING))
        await loop_turns()
    await until_true(lambda: unseen.started >= MOST)
    await shown.close()
    assert unseen.started == MOST
