"""When each schedule is looked at next; a sidecar without a database keeps that in memory."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from sidecar.fleet.schedules.files import Schedule, Schedules, load_schedules

#: Look again at the latest after this: files may have changed, and so may the clock.
LONGEST_SECONDS = 900.0


class Planned(NamedTuple):
    schedule: Schedule
    #: When it starts a task; in the past if something keeps it waiting.
    due: datetime
    #: When to look at it again.
    look: datetime


class Calendar(Protocol):
    def now(self) -> datetime: ...

    async def load(self, *, running: bool) -> Schedules:
        """What counts now. The process that runs schedules reads its files."""

    async def plan(self, loaded: Schedules, planned: Sequence[Planned]) -> None:
        """Replace the plan. What was taken has ended."""

    async def take(self) -> Collection[str]:
        """The names of those whose moment has come."""

    async def wait(self, changed: asyncio.Event) -> None:
        """Until a moment has come, or something has changed."""

    async def active(self) -> bool:
        """Whether another process runs schedules."""


class LocalCalendar:
    def __init__(self, configuration: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._configuration = configuration
        self.now = now
        self._looks: dict[str, datetime] = {}

    async def load(self, *, running: bool) -> Schedules:
        return await asyncio.to_thread(load_schedules, self._configuration)

    async def plan(self, loaded: Schedules, planned: Sequence[Planned]) -> None:
        self._looks = {each.schedule.name: each.look for each in planned}

    async def take(self) -> Collection[str]:
        now = self.now()
        return [name for name, look in self._looks.items() if look <= now]

    async def wait(self, changed: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self.seconds()):
                await changed.wait()
        except TimeoutError:
            pass

    def seconds(self) -> float | None:
        """Until the next look, at least a moment; `None` if there is nothing to wait for."""
        if not self._looks:
            return None
        return min(max((min(self._looks.values()) - self.now()).total_seconds(), 0.0), LONGEST_SECONDS)

    async def active(self) -> bool:
        return False
