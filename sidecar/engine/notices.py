"""Notifies your desktop when a task waits, fails, needs you, or ends after a minute."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Protocol

from sidecar.journal.errors import JournalError
from sidecar.journal.port import Journal
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import ENDED, Status, Task

#: A task that took less is no news when it completes.
LONG_SECONDS = 60.0
#: Notifications that are shown at the same time; further ones are dropped.
MOST = 5
_TITLES = {
    Status.WAITING: "A task waits for you",
    Status.FAILED: "A task failed",
    Status.ESCALATED: "A task needs you",
    Status.COMPLETED: "A task is done",
}


class Notifier(Protocol):
    def notify(self, title: str, text: str) -> Awaitable[bool]:
        """Whether you clicked it."""


class TaskNotices:
    """`find` returns how to notify, if this machine can; `open_task` is called with the task of a clicked notice."""

    def __init__(
        self, journal: Journal, find: Callable[[], Notifier | None], open_task: Callable[[str], Awaitable[None]]
    ) -> None:
        self._journal = journal
        self._find = find
        self._open_task = open_task
        #: When the tasks that run here began; 0 if an earlier process began them.
        self._began: dict[str, float] = {}
        self._shown: set[asyncio.Task[None]] = set()

    def take(self, task_id: str, event: StatusEvent) -> None:
        """A task's status changed."""
        if event.status is Status.INTERRUPTED:
            self._began[task_id] = 0.0
        if event.status is Status.RUNNING:
            self._began.setdefault(task_id, time.monotonic())
        began = self._began.pop(task_id, 0.0) if event.status in ENDED else 0.0
        if event.status is Status.COMPLETED and began and time.monotonic() - began < LONG_SECONDS:
            return  # most tasks, so the journal isn't asked
        if event.status in _TITLES and len(self._shown) < MOST:
            notice = asyncio.create_task(self._show(task_id, event))
            self._shown.add(notice)
            notice.add_done_callback(self._shown.discard)

    async def close(self) -> None:
        for notice in self._shown:
            notice.cancel()
        await asyncio.gather(*self._shown, return_exceptions=True)

    async def _show(self, task_id: str, event: StatusEvent) -> None:
        try:
            task = await self._journal.task(task_id)
        except JournalError:
            return  # deleted in the meantime
        notifier = self._find() if event.status is not Status.COMPLETED or _seconds(task) >= LONG_SECONDS else None
        if notifier is None:
            return
        text = f"{task.title}: {event.reason}" if event.reason else task.title
        if await notifier.notify(_TITLES[event.status], text):
            await self._open_task(task_id)


def _seconds(task: Task) -> float:
    if task.started_at is None or task.ended_at is None:
        return 0
    return (datetime.fromisoformat(task.ended_at) - datetime.fromisoformat(task.started_at)).total_seconds()
