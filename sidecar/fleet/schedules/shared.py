"""The calendar of a fleet: each due moment is a job of procrastinate, deferred with the row of its schedule.

The leader takes the jobs, because limits of a pool hold only if one process starts its tasks. If it dies, the next one
finds the jobs; if it is stopped and goes on, the database refuses its plan.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from socket import gethostname

from sidecar.fleet.schedules.calendar import Planned
from sidecar.fleet.schedules.files import FOLDER, Schedules, load_schedules, parse_pools, parse_schedule, stamp
from sidecar.fleet.state import DEAD_SECONDS
from sidecar.journal.postgres.connection import without_zeros
from sidecar.journal.postgres.jobs import SCHEDULE_QUEUE
from sidecar.journal.postgres.reading import JournalReader

#: Look again at the latest after this: a job may be lost.
LEADER_SECONDS = 60.0
#: A job whose moment comes sends no notification.
POLL_SECONDS = 2.0


class SharedCalendar:
    """In the database of a fleet, by its clock. The leader's files count; the other nodes read its plan."""

    def __init__(self, configuration: Path, journal: JournalReader, clock: Callable[[], float], member: str) -> None:
        self._configuration = configuration
        self._journal = journal
        self._clock = clock
        self._member = member
        self._stamp: object = None
        self._planned = False

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)

    async def load(self, *, running: bool) -> Schedules:
        self._stamp = await asyncio.to_thread(stamp, self._configuration)
        own = await asyncio.to_thread(load_schedules, self._configuration)
        if running:
            return own
        ((pools, problems, place),) = await self._journal.query("SELECT pools, problems, place FROM schedule_files")
        found = await self._journal.query("SELECT name, text, since FROM schedules ORDER BY name")
        planned = []
        for name, text, since in found:
            try:
                planned.append(parse_schedule(name, text, since))
            except ValueError as error:  # the leader has another version
                problems.append(f"{name} is not shown: {error}")
        if place not in ("", self._place):
            names = {row[0] for row in found}
            problems += [
                f"{self._configuration / FOLDER / each.name}.md is not used: the leader's schedules count, "
                f"those in {place}"
                for each in own.schedules
                if each.name not in names
            ]
        return Schedules(planned, parse_pools(pools), problems)

    @property
    def _place(self) -> str:
        return f"{gethostname()}:{self._configuration / FOLDER}"

    async def plan(self, loaded: Schedules, planned: Sequence[Planned]) -> None:
        schedules = [each.schedule for each in planned]
        values = (
            self._member,
            [each.name for each in schedules],
            [without_zeros(each.source) for each in schedules],
            [each.since for each in schedules],
            [each.due for each in planned],
            [each.look for each in planned],
            loaded.pools_source,
            loaded.problems,
            self._place,
        )
        await self._journal.query(_PLAN, values)
        self._planned = bool(planned)

    async def take(self) -> Collection[str]:
        ((names,),) = await self._journal.query("SELECT take_schedules(%s)", (self._member,))
        return set(names)

    async def wait(self, changed: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + LEADER_SECONDS
        while loop.time() < until:
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    await changed.wait()
                return
            except TimeoutError:
                pass
            if self._planned and await self._journal.query(_COME):
                return
            if await asyncio.to_thread(stamp, self._configuration) != self._stamp:
                return

    async def active(self) -> bool:
        query = "SELECT FROM leadership WHERE at > now() - make_interval(secs => %s)"
        return bool(await self._journal.query(query, (DEAD_SECONDS,)))


_PLAN = """
SELECT plan_schedules(%s, %s::text[], %s::text[], %s::double precision[], %s::timestamptz[], %s::timestamptz[], %s,
    %s::text[], %s)
"""
_COME = f"""
SELECT FROM procrastinate_jobs WHERE queue_name = '{SCHEDULE_QUEUE}' AND status = 'todo'
    AND (scheduled_at IS NULL OR scheduled_at <= now()) LIMIT 1
"""
