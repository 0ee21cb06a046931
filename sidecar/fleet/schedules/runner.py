"""Starts what is due: plans the next moments in a calendar, waits for them, and asks the store what has run.

Each activation has the moment that it was due as its idempotency key: two processes, or one that is killed in between,
start it once. Of the moments that were missed only the newest counts.
"""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol

from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import Execute, Operation
from sidecar.fleet.schedules.calendar import LONGEST_SECONDS, Calendar, Planned
from sidecar.fleet.schedules.files import FOLDER, Pool, Schedule, Schedules, last_slot, next_slot
from sidecar.journal.errors import JournalError
from sidecar.journal.port import Journal, TaskFilter
from sidecar.wire.fleet import PoolState, ScheduleList, ScheduleState
from sidecar.wire.tasks import ENDED, Context, ExecuteRequest, Options, Task
from sidecar.wire.text import plural

log = logging.getLogger(__name__)

#: After a failure of the journal.
_PAUSE_SECONDS = 30.0
#: Activations of a schedule that count as its recent ones.
_RECENT = 500


class Submitter(Protocol):
    async def submit(self, operation: Operation) -> str: ...


class Activity(NamedTuple):
    """What the store knows of one schedule."""

    schedule: Schedule
    #: Newest first.
    tasks: Sequence[Task]
    #: When anything was last done in its workspace.
    active: datetime | None

    def today(self, now: datetime) -> list[Task]:
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return [task for task in self.tasks if datetime.fromisoformat(task.created_at) >= midnight]

    def spent(self, now: datetime) -> float:
        return sum(task.usage.cost_usd for task in self.today(now))

    @property
    def running(self) -> int:
        return sum(task.status not in ENDED for task in self.tasks)


class ScheduleRunner:
    def __init__(self, configuration: Path, journal: Journal, tasks: Submitter, calendar: Calendar) -> None:
        self._configuration = configuration
        self._journal = journal
        self._tasks = tasks
        self._calendar = calendar
        self._changed = asyncio.Event()
        #: Whether there was a schedule at the last look.
        self._scheduled = False
        #: Problems that the log has.
        self._told: set[str] = set()
        #: Whether this process runs them.
        self.active = False

    def look(self) -> None:
        """Files may have changed."""
        self._changed.set()

    def task_ended(self) -> None:
        """Without a schedule, a task's end costs one `stat`."""
        if self._scheduled or (self._configuration / FOLDER).exists():
            self._changed.set()

    async def run(self) -> None:
        """Until cancelled. Without a schedule it sleeps until something calls `look`."""
        self.active = True
        try:
            while True:
                self._changed.clear()
                try:
                    await self.step()
                except JournalError as error:
                    log.error("Schedules wait: %s", error)
                    await asyncio.sleep(_PAUSE_SECONDS)
                    continue
                await self._calendar.wait(self._changed)
        finally:
            self.active = False

    async def step(self) -> None:
        """Plan all, start what is due, and plan that anew."""
        loaded = await self._calendar.load(running=True)
        for problem in set(loaded.problems) - self._told:
            log.warning(problem)
        self._told = set(loaded.problems)
        now = self._calendar.now()
        known = [await self._activity(schedule) for schedule in loaded.schedules]
        self._scheduled = bool(known)
        await self._calendar.plan(loaded, [await self._planned(found, known, loaded, now) for found in known])
        if not known or not (come := await self._calendar.take()):
            return
        refused: set[str] = set()
        for place, found in enumerate(known):
            if found.schedule.name not in come:
                continue
            slot = await self._due(found, now)
            if slot is not None and _obstacle(found, known, loaded, now) is None:
                if not await self._activate(found, known, loaded, slot, now):
                    refused.add(found.schedule.name)
                known[place] = await self._activity(found.schedule)
        plan = [await self._planned(found, known, loaded, now) for found in known]
        later = now + timedelta(seconds=LONGEST_SECONDS)
        await self._calendar.plan(
            loaded, [each._replace(look=later) if each.schedule.name in refused else each for each in plan]
        )

    async def _planned(self, found: Activity, known: Sequence[Activity], loaded: Schedules, now: datetime) -> Planned:
        following = next_slot(found.schedule, now, found.active)
        slot = await self._due(found, now)
        if slot is None:
            return Planned(found.schedule, following, following)
        if _obstacle(found, known, loaded, now) is None:
            return Planned(found.schedule, slot, slot)
        later = now + timedelta(seconds=LONGEST_SECONDS)
        return Planned(found.schedule, slot, min(following, later) if following > now else later)

    async def state(self) -> ScheduleList:
        self.look()
        loaded = await self._calendar.load(running=self.active)
        now = self._calendar.now()
        known = [await self._activity(schedule) for schedule in loaded.schedules]
        return ScheduleList(
            schedules=[await self._describe(found, known, loaded, now) for found in known],
            pools=[_describe_pool(name, pool, known, now) for name, pool in loaded.pools.items()],
            problems=loaded.problems,
            active=self.active or await self._calendar.active(),
        )

    async def start(self, name: str, key: str) -> str:
        """Start a schedule now, within its limits and budgets; the same key gives the same task."""
        loaded = await self._calendar.load(running=self.active)
        now = self._calendar.now()
        known = [await self._activity(schedule) for schedule in loaded.schedules]
        found = next((each for each in known if each.schedule.name == name), None)
        if found is None:
            raise OperationRefused(404, "unknown_schedule", f"There is no schedule {name[:100]}.")
        if obstacle := _obstacle(found, known, loaded, now):
            raise OperationRefused(409, "schedule_waits", obstacle)
        return await self._submit(found, known, loaded, f"{found.schedule.conversation}.{key}", now)

    async def _activity(self, schedule: Schedule) -> Activity:
        tasks = await self._journal.tasks(TaskFilter(conversation=schedule.conversation), limit=_RECENT)
        active = None
        if schedule.kind == "stale":
            newest = await self._journal.tasks(TaskFilter(workspaces=[schedule.workspace]), limit=1)
            active = datetime.fromisoformat(newest[0].created_at) if newest else None
        return Activity(schedule, tasks, active)

    async def _due(self, found: Activity, now: datetime) -> datetime | None:
        slot = last_slot(found.schedule, now, found.active)
        if slot is None or (found.tasks and datetime.fromisoformat(found.tasks[0].created_at) >= slot):
            return None
        # The clock of the process that started it may have been slow.
        return slot if await self._journal.find_by_key(_key(found.schedule, slot)) is None else None

    async def _activate(
        self, found: Activity, known: Sequence[Activity], loaded: Schedules, slot: datetime, now: datetime
    ) -> bool:
        schedule = found.schedule
        try:
            task_id = await self._submit(found, known, loaded, _key(schedule, slot), now)
        except OperationRefused as error:
            log.error("Schedule %s could not start: %s", schedule.name, error.message)
            return False
        log.info("Schedule %s started task %s, due at %s", schedule.name, task_id, slot.isoformat())
        return True

    async def _submit(
        self, found: Activity, known: Sequence[Activity], loaded: Schedules, key: str, now: datetime
    ) -> str:
        schedule = found.schedule
        options = Options(
            agent_type=schedule.agent,
            approvals=schedule.approvals,
            unattended=True,
            priority="low",
            pool=schedule.pool,
            max_cost_usd=_most(found, known, loaded, now),
        )
        request = ExecuteRequest(task=schedule.text, context=Context(workspace=schedule.workspace), options=options)
        return await self._tasks.submit(Execute(request, key, conversation=schedule.conversation))

    async def _describe(
        self, found: Activity, known: Sequence[Activity], loaded: Schedules, now: datetime
    ) -> ScheduleState:
        schedule, last = found.schedule, found.tasks[0] if found.tasks else None
        obstacle = _obstacle(found, known, loaded, now)
        due = await self._due(found, now)
        return ScheduleState(
            name=schedule.name,
            when=f"{schedule.kind} {schedule.when}",
            workspace=schedule.workspace,
            agent=schedule.agent,
            pool=schedule.pool,
            next=due or next_slot(schedule, now, found.active),
            waits=obstacle if due is not None else None,
            last_task=last.id if last else None,
            last_at=datetime.fromisoformat(last.created_at) if last else None,
            last_status=last.status if last else None,
            today=len(found.today(now)),
            spent_usd=found.spent(now),
            budget_usd=schedule.budget,
        )


def _key(schedule: Schedule, slot: datetime) -> str:
    return f"{schedule.conversation}.{slot.isoformat()}"


def _obstacle(found: Activity, known: Sequence[Activity], loaded: Schedules, now: datetime) -> str | None:
    """Why a schedule that is due doesn't start now."""
    schedule, pool = found.schedule, loaded.pools[found.schedule.pool]
    mates = [each for each in known if each.schedule.pool == schedule.pool]
    if found.running:
        return "Its last activation still runs."
    if sum(each.running for each in mates) >= pool.at_once:
        return f"The pool {schedule.pool} runs {pool.at_once} at once."
    if schedule.max_per_day is not None and len(found.today(now)) >= schedule.max_per_day:
        return f"It ran {plural(schedule.max_per_day, 'time')} today."
    if schedule.budget is not None and found.spent(now) >= schedule.budget:
        return f"It has spent its budget of today, ${schedule.budget:g}."
    if pool.budget is not None and any(each.running for each in mates):
        return f"The pool {schedule.pool} has a budget, so its activations run one after the other."
    if pool.budget is not None and sum(each.spent(now) for each in mates) >= pool.budget:
        return f"The pool {schedule.pool} has spent its budget of today, ${pool.budget:g}."
    return None


def _most(found: Activity, known: Sequence[Activity], loaded: Schedules, now: datetime) -> float | None:
    """What one activation may spend: its own limit, and what is left of the budgets of the day."""
    schedule, pool = found.schedule, loaded.pools[found.schedule.pool]
    limits = [] if schedule.max_cost is None else [schedule.max_cost]
    if schedule.budget is not None:
        limits.append(schedule.budget - found.spent(now))
    if pool.budget is not None:
        used = sum(each.spent(now) for each in known if each.schedule.pool == schedule.pool)
        limits.append(pool.budget - used)
    return min(limits) if limits else None


def _describe_pool(name: str, pool: Pool, known: Sequence[Activity], now: datetime) -> PoolState:
    mates = [each for each in known if each.schedule.pool == name]
    return PoolState(
        name=name,  # type: ignore[arg-type]
        at_once=pool.at_once,
        running=sum(each.running for each in mates),
        spent_usd=sum(each.spent(now) for each in mates),
        budget_usd=pool.budget,
    )
