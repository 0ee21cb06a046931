"""Schedules of a fleet: a due moment is a job that commits with its schedule's row, and starts one task."""

import asyncio
import json
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from sidecar.fleet.dispatch import Dispatcher
from sidecar.fleet.leader import Leader
from sidecar.fleet.schedules import shared
from sidecar.fleet.schedules.runner import ScheduleRunner
from sidecar.fleet.schedules.shared import SharedCalendar
from sidecar.journal.postgres.jobs import SCHEDULE_QUEUE
from sidecar.journal.postgres.journal import PostgresJournal
from tests.contract.journals import new_task
from tests.support.schedules import Engine, write
from tests.support.servers import Postgres
from tests.waiting import until_true

#: The database's clock: functions of the schema that come before its own, and how far ahead they are.
CLOCK = """
CREATE TABLE clock (ahead INTERVAL NOT NULL);
INSERT INTO clock VALUES ('0');
CREATE FUNCTION now() RETURNS TIMESTAMPTZ LANGUAGE sql STABLE AS $$ SELECT pg_catalog.now() + ahead FROM clock $$;
CREATE FUNCTION clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE sql VOLATILE AS $$
    SELECT pg_catalog.clock_timestamp() + ahead FROM clock
$$;
"""
MONTH = timedelta(weeks=4)


class Machine:
    """One process of the fleet, with files of its own."""

    def __init__(self, name: str, journal: PostgresJournal, files: Path) -> None:
        self.name, self.journal, self.files = name, journal, files
        self.engine = Engine(journal)
        calendar = SharedCalendar(files, journal, journal.clock, name)
        self.runner = ScheduleRunner(files, journal, self.engine, calendar)

    async def lead(self) -> None:
        await self.journal.query("UPDATE leadership SET leader = %s, at = now() RETURNING true", (self.name,))

    async def look(self) -> None:
        await self.journal.set_clock()
        await self.runner.step()


class Fleet:
    def __init__(self, url: str, schema: str, files: Path, stack: AsyncExitStack) -> None:
        self._url, self.schema, self._files, self._stack = url, schema, files, stack

    async def machine(self, name: str) -> Machine:
        journal = await PostgresJournal.open(self._url, schema=self.schema)
        self._stack.push_async_callback(journal.close)
        files = self._files / name
        files.mkdir()
        return Machine(name, journal, files)

    async def move(self, ahead: timedelta) -> None:
        async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as connection:
            await connection.execute("UPDATE clock SET ahead = %s", (ahead,))


@pytest.fixture
async def fleet(postgres: Postgres, tmp_path: Path) -> AsyncIterator[Fleet]:
    schema = f"test_{secrets.token_hex(6)}"
    url = f"{postgres.url}&options=-csearch_path%3D{schema}%2Cpg_catalog"
    journal = await PostgresJournal.open(url, schema=schema)
    await journal.close()
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(CLOCK)
    async with AsyncExitStack() as stack:
        yield Fleet(url, schema, tmp_path, stack)


def written_now(machine: Machine, name: str, front: str, text: str = "Look around.") -> None:
    """Due at its next moment, not at once."""
    write(machine.files, name, front, text)
    os.utime(machine.files / "schedules" / f"{name}.md")


async def planned(journal: PostgresJournal) -> list[tuple[str, bool]]:
    """The names in the rows and of the jobs, and whether each job is for its row's moment."""
    found = await journal.query(
        "SELECT name, scheduled_at = due FROM schedules FULL JOIN"
        " (SELECT * FROM procrastinate_jobs WHERE queue_name = %s) AS job ON queueing_lock = 'schedule.' || name"
        " ORDER BY 1",
        (SCHEDULE_QUEUE,),
    )
    return [(name, same) for name, same in found]


async def test_the_job_of_a_due_moment_is_deferred_in_the_transaction_of_the_schedules_row(fleet: Fleet) -> None:
    machine = await fleet.machine("a")
    await machine.lead()
    plan = "SELECT plan_schedules('a', '{x}', '{text}', '{0}', '{2030-01-01}', '{2030-01-01}', '', '{}', '')"
    async with await psycopg.AsyncConnection.connect(machine.journal.conninfo) as connection:
        assert await (await connection.execute(plan)).fetchone() == (True,)
        found = await connection.execute("SELECT name, scheduled_at = due FROM schedules, procrastinate_jobs")
        assert await found.fetchall() == [("x", True)]
        await connection.rollback()
    assert await planned(machine.journal) == []
    written_now(machine, "look", "every: 4w")
    await machine.look()
    assert await planned(machine.journal) == [("look", True)]
    await machine.look()
    assert await planned(machine.journal) == [("look", True)]
    assert await machine.engine.tasks() == []


async def test_a_leader_that_dies_between_planning_and_the_moment_leaves_it_to_the_next(fleet: Fleet) -> None:
    first, second = await fleet.machine("a"), await fleet.machine("b")
    for machine in (first, second):
        written_now(machine, "look", "every: 4w")
    await first.lead()
    await first.look()
    await second.lead()
    await fleet.move(MONTH)
    await second.look()
    (task,) = await second.engine.tasks()
    assert await planned(second.journal) == [("look", True)]
    # The first one comes back, and hasn't noticed yet that it no longer leads.
    (first.files / "schedules" / "look.md").unlink()
    await first.look()
    assert await second.engine.tasks() == [task]
    assert await planned(second.journal) == [("look", True)]


async def test_a_leader_that_dies_with_a_taken_job_leaves_its_moment_to_the_next(fleet: Fleet) -> None:
    first, second = await fleet.machine("a"), await fleet.machine("b")
    for machine in (first, second):
        write(machine.files, "look", "every: 4w")
    await first.lead()
    plan = "SELECT plan_schedules('a', '{look}', '{x}', '{0}', '{2020-01-01}', '{2020-01-01}', '', '{}', '')"
    await first.journal.query(plan)
    assert await first.journal.query("SELECT take_schedules('a')") == [(["look"],)]
    assert await first.journal.query("SELECT take_schedules('a')") == [([],)]
    await second.lead()
    await second.look()
    assert len(await second.engine.tasks()) == 1
    assert await planned(second.journal) == [("look", True)]


async def test_two_that_both_think_they_lead_start_each_moment_once(fleet: Fleet) -> None:
    machines = [await fleet.machine(name) for name in ("a", "b", "c")]
    for machine in machines:
        for number in range(3):
            write(machine.files, f"look{number}", "every: 4w\npool: notification")
    for _ in range(5):
        for leader in machines:
            await asyncio.gather(leader.lead(), *(machine.look() for machine in machines))
    assert len(await machines[0].engine.tasks()) == 3


async def test_what_was_missed_runs_once_and_each_moment_once_however_the_clock_jumps(fleet: Fleet) -> None:
    machine = await fleet.machine("a")
    await machine.lead()
    written_now(machine, "look", "every: 1d")
    await machine.look()
    for ahead, expected in (
        (10 * MONTH, 1),
        (timedelta(), 1),
        (10 * MONTH, 1),
        (MONTH, 2),
        (10 * MONTH, 2),
        (11 * MONTH, 3),
    ):
        await fleet.move(ahead)
        for _ in range(2):
            await machine.look()
            await machine.engine.end()
        assert len(await machine.engine.tasks()) == expected, ahead
        assert await planned(machine.journal) == [("look", True)]


async def test_a_file_that_changed_or_vanished_before_its_moment_counts_as_it_is_now(fleet: Fleet) -> None:
    machine = await fleet.machine("a")
    await machine.lead()
    for name in ("changed", "vanished", "kept"):
        written_now(machine, name, "every: 4w", f"Look {name}.")
    await machine.look()
    await fleet.move(MONTH)
    (machine.files / "schedules" / "vanished.md").unlink()
    write(machine.files, "changed", "every: 4w", "Look elsewhere.")
    await machine.look()
    assert sorted(each.request.task for each in machine.engine.submitted) == ["Look elsewhere.", "Look kept."]
    assert [name for name, _ in await planned(machine.journal)] == ["changed", "kept"]


async def test_the_end_of_an_activation_wakes_what_waits_for_its_pool(fleet: Fleet) -> None:
    machine = await fleet.machine("a")
    await machine.lead()
    for name in ("one", "two"):
        write(machine.files, name, "every: 4w\npool: exploration")
    await machine.look()
    assert len(await machine.engine.tasks()) == 1
    come = "SELECT queueing_lock FROM procrastinate_jobs WHERE queue_name = %s AND scheduled_at IS NULL"
    assert await machine.journal.query(come, (SCHEDULE_QUEUE,)) == []
    await machine.engine.end()
    assert await machine.journal.query(come, (SCHEDULE_QUEUE,)) == [("schedule.two",)]
    await machine.look()
    assert [each.conversation for each in machine.engine.submitted] == ["schedule.one", "schedule.two"]


async def test_a_stale_workspace_is_known_from_the_store_whichever_process_worked_in_it(fleet: Fleet) -> None:
    first, second = await fleet.machine("a"), await fleet.machine("b")
    await first.lead()
    written_now(first, "look", "stale: 4w")
    await first.look()
    await second.journal.create(
        new_task("t_1")._replace(request=new_task("t_1").request.model_copy(update={"workspace": str(first.files)}))
    )
    (before,) = await first.journal.query("SELECT due FROM schedules")
    await first.look()
    (after,) = await first.journal.query("SELECT due FROM schedules")
    assert after[0] > before[0]
    await fleet.move(MONTH + timedelta(hours=1))
    await first.look()
    assert len(first.engine.submitted) == 1


async def test_hostile_files_and_jobs_neither_stop_the_others_nor_start_anything(fleet: Fleet) -> None:
    machine = await fleet.machine("a")
    await machine.lead()
    write(machine.files, "good", "every: 4w")
    write(machine.files, "zero", "every: 4w", "Look\0.")
    folder = machine.files / "schedules"
    (folder / os.fsdecode(b"\xff\xfe.md")).write_text("---\nevery: 1h\n---\nx")
    (folder / "binary.md").write_bytes(b"\xff\xfe\0")
    (folder / "large.md").write_text("x" * 100_000)
    (folder / "link.md").symlink_to("/dev/zero")
    (folder / "quote.md").write_text("---\nevery: 1h\nworkspace: /w\nrun\0'; DROP TABLE schedules: x\n---\nx")
    for args in ({"schedule": "nothing"}, {"schedule": {"x": [1]}}, [1], 7, {}, "'; DROP TABLE schedules"):
        await machine.journal.query(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, args) VALUES (%s, 'start_schedule', %s)"
            " RETURNING id",
            (SCHEDULE_QUEUE, json.dumps(args)),
        )
    await machine.look()
    assert sorted(each.conversation or "" for each in machine.engine.submitted) == ["schedule.good", "schedule.zero"]
    assert await planned(machine.journal) == [("good", True), ("zero", True)]
    other = await fleet.machine("b")
    state = await other.runner.state()
    assert [each.name for each in state.schedules] == ["good", "zero"]
    assert len(state.problems) == 5


async def test_every_node_shows_and_starts_the_leaders_schedules_and_names_files_that_do_not_count(
    fleet: Fleet,
) -> None:
    leader, node = await fleet.machine("a"), await fleet.machine("b")
    written_now(leader, "look", "every: 4w")
    written_now(node, "mine", "every: 4w")
    (leader.files / "pools.toml").write_text("[exploration]\natOnce = 7\n")
    await leader.lead()
    await leader.look()
    state = await node.runner.state()
    assert state.active
    assert [(each.name, each.when) for each in state.schedules] == [("look", "every 4w")]
    assert [each.at_once for each in state.pools if each.name == "exploration"] == [7]
    (problem,) = state.problems
    assert "mine.md is not used" in problem and str(leader.files) in problem
    task_id = await node.runner.start("look", "now")
    assert (await leader.journal.task(task_id)).id == task_id


async def test_a_worker_of_all_pools_takes_tasks_and_leaves_schedules_to_the_leader(fleet: Fleet) -> None:
    machine = await fleet.machine("a")
    await machine.lead()
    plan = "SELECT plan_schedules('a', '{look}', '{x}', '{0}', '{2020-01-01}', '{2020-01-01}', '', '{}', '')"
    await machine.journal.query(plan)
    claimed: list[str] = []

    class Worker:
        free_slots = 2

        def call_when_free(self, callback: object) -> None: ...

        async def run_named(self, task_id: str) -> bool:
            claimed.append(task_id)
            return await machine.journal.claim_named(task_id, "w", machine.journal.clock(), 15) is not None

    dispatcher = Dispatcher(machine.journal.conninfo, Worker(), "*", 2)
    await dispatcher.start()
    try:
        for name in ("t_1", "t_2"):
            await machine.journal.create(new_task(name))
            await until_true(lambda name=name: name in claimed)  # type: ignore[misc]
        assert await machine.journal.query("SELECT take_schedules('a')") == [(["look"],)]
    finally:
        await dispatcher.close()


async def test_leaders_start_what_comes_due_one_after_the_other(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "POLL_SECONDS", 0.02)
    first, second = await fleet.machine("a"), await fleet.machine("b")
    for machine in (first, second):
        written_now(machine, "look", "every: 4w")
    leaders = [Leader(each.journal, each.name, (each.runner.run,)) for each in (first, second)]

    async def is_planned() -> bool:
        return await planned(first.journal) == [("look", True)]

    async def has_started(count: int) -> bool:
        await asyncio.gather(first.journal.set_clock(), second.journal.set_clock())
        return len(await second.engine.tasks()) == count

    try:
        leaders[0].start()
        await until_true(is_planned)
        leaders[1].start()
        await leaders[0].close()
        await until_true(lambda: second.runner.active)
        await fleet.move(MONTH)
        await until_true(lambda: has_started(1))
        await second.engine.end()
        # A file that is written meanwhile is noticed without a word.
        written_now(second, "another", "every: 4w")

        async def both_planned() -> bool:
            return [name for name, _ in await planned(first.journal)] == ["another", "look"]

        await until_true(both_planned)
        await fleet.move(2 * MONTH)
        await until_true(lambda: has_started(3))
    finally:
        for leader in leaders:
            await leader.close()
