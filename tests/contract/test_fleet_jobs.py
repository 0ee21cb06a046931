"""A job of procrastinate for each free task: a hint to look, which may be lost, doubled or wrong without harm."""

import json
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import LiteralString

import psycopg
import pytest

from sidecar.fleet import dispatch
from sidecar.fleet import leader as leading
from sidecar.fleet.dispatch import Dispatcher
from sidecar.fleet.leader import Leader
from sidecar.fleet.membership import Member, Membership
from sidecar.fleet.state import SharedFleet
from sidecar.journal.errors import JournalStalled, UnknownTask
from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import Priority, Status
from tests.contract.journals import COMPLETED, QUEUED, RUNNING, new_task
from tests.support.servers import Postgres
from tests.waiting import until_true


class Runner:
    """Claims the task that a job names, and keeps it."""

    def __init__(self, journal: PostgresJournal, slots: int = 2) -> None:
        self.journal = journal
        self.free_slots = slots
        self.asked: list[str] = []
        self.claimed: list[str] = []
        self._freed: Callable[[], None] = lambda: None

    def call_when_free(self, callback: Callable[[], None]) -> None:
        self._freed = callback

    async def run_named(self, task_id: str) -> bool:
        self.asked.append(task_id)
        if await self.journal.claim_named(task_id, "me", self.journal.clock(), 15) is None:
            return False
        self.free_slots -= 1
        self.claimed.append(task_id)
        return True

    def leave(self) -> None:
        self.free_slots += 1
        self._freed()


@pytest.fixture
async def journal(postgres: Postgres) -> AsyncIterator[PostgresJournal]:
    opened = await PostgresJournal.open(postgres.url, schema=f"test_{secrets.token_hex(6)}")
    yield opened
    await opened.close()


@asynccontextmanager
async def dispatching(journal: PostgresJournal, runner: Runner, slots: int = 2) -> AsyncIterator[Dispatcher]:
    """Gives the runner the tasks of the pool `default`."""
    dispatcher = Dispatcher(journal.conninfo, runner, "default", slots)
    await dispatcher.start()
    try:
        yield dispatcher
    finally:
        await dispatcher.close()


@pytest.fixture
async def runner(journal: PostgresJournal) -> AsyncIterator[Runner]:
    made = Runner(journal)
    async with dispatching(journal, made):
        yield made


async def jobs(journal: PostgresJournal) -> list[tuple[str, str, int, str]]:
    found = await journal.query(
        "SELECT queue_name, queueing_lock, priority, status FROM procrastinate_jobs ORDER BY id"
    )
    return [tuple(row) for row in found]  # type: ignore[misc]


async def no_jobs(journal: PostgresJournal) -> None:
    async def none() -> bool:
        return not await jobs(journal)

    await until_true(none)


async def put_job(journal: PostgresJournal, args: object, name: str = "run_task") -> None:
    query = "INSERT INTO procrastinate_jobs (queue_name, task_name, args) VALUES ('default', %s, %s) RETURNING id"
    await journal.query(query, (name, json.dumps(args)))


async def test_a_job_is_deferred_in_the_transaction_of_its_task(journal: PostgresJournal) -> None:
    await journal.create(new_task("t_1", priority="high"))
    assert await jobs(journal) == [("default", "t_1", 0, "todo")]
    seen: list[int] = []

    async def roll_back(query: LiteralString, arguments: Sequence[object]) -> object:
        async with await psycopg.AsyncConnection.connect(journal.conninfo) as connection:
            await connection.execute(query, arguments)
            found = await connection.execute("SELECT FROM procrastinate_jobs WHERE queueing_lock = 't_2'")
            seen.append(found.rowcount)
            await connection.rollback()
        raise JournalStalled("rolled back")

    journal.writer.value = roll_back  # type: ignore[method-assign,assignment]
    with pytest.raises(JournalStalled, match="rolled back"):
        await journal.create(new_task("t_2"))
    assert seen == [1]
    assert await jobs(journal) == [("default", "t_1", 0, "todo")]
    with pytest.raises(UnknownTask):
        await journal.task("t_2")


async def test_a_worker_gets_tasks_by_priority_and_then_by_age(journal: PostgresJournal) -> None:
    priorities: list[Priority] = ["low", "normal", "high", "normal"]
    for number, priority in enumerate(priorities):
        await journal.create(new_task(f"t_{number}", priority=priority))
    runner = Runner(journal, slots=4)
    async with dispatching(journal, runner, slots=1):
        await until_true(lambda: len(runner.asked) == 4)
    assert runner.asked == ["t_2", "t_1", "t_3", "t_0"]


async def test_a_task_that_its_worker_lost_comes_before_others_of_its_priority(journal: PostgresJournal) -> None:
    for name in ("claimed", "running", "waiting"):
        await journal.create(new_task(name))
    await journal.query("DELETE FROM procrastinate_jobs WHERE queueing_lock != 'waiting' RETURNING true")
    for name in ("claimed", "running"):
        claim = await journal.claim_named(name, "dead", now=0, lease=15)
        assert claim is not None
    await journal.append("running", [RUNNING], fence=claim.fence)
    for name in ("claimed", "running"):
        assert await journal.claim_lost("leader", now=14, lease=15) is None
        lost = await journal.claim_lost("leader", now=16, lease=15)
        assert lost is not None and lost.task_id == name
    await journal.release("claimed")
    await journal.append("running", [StatusEvent(status=Status.INTERRUPTED), QUEUED], fence=lost.fence)
    first, second = ("default", "claimed", -1, "todo"), ("default", "running", -1, "todo")
    assert await jobs(journal) == [("default", "waiting", -2, "todo"), first, second]


async def test_a_worker_claims_what_its_jobs_name_and_no_more_than_its_slots(
    journal: PostgresJournal, runner: Runner
) -> None:
    for number in range(3):
        await journal.create(new_task(f"t_{number}"))
    await until_true(lambda: len(runner.claimed) == 2)

    async def one_left() -> bool:
        return await jobs(journal) == [("default", "t_2", -2, "todo")]

    await until_true(one_left)
    runner.leave()
    await until_true(lambda: len(runner.claimed) == 3)
    await no_jobs(journal)
    assert sorted(runner.claimed) == runner.asked == ["t_0", "t_1", "t_2"]


async def test_the_claim_of_a_task_ends_its_job_in_the_same_transaction_and_leaves_no_history(
    journal: PostgresJournal,
) -> None:
    for name in ("t_1", "t_2"):
        await journal.create(new_task(name))
    fetch = "SELECT id FROM procrastinate_fetch_job_v2(NULL, %s)"
    ((worker,),) = await journal.query("INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id")
    for _ in range(2):
        await journal.query(fetch, (worker,))
    assert await journal.claim_named("t_1", "me", journal.clock(), 15) is not None
    assert await jobs(journal) == [("default", "t_2", -2, "doing")]
    assert await journal.query("SELECT FROM procrastinate_events") == []


async def test_doubled_jobs_and_those_of_tasks_that_others_run_or_that_ended_do_nothing(
    journal: PostgresJournal, runner: Runner
) -> None:
    runner.free_slots = 0
    for name in ("mine", "theirs", "ended"):
        await journal.create(new_task(name))
    assert await journal.claim_named("theirs", "other", journal.clock(), 15) is not None
    claim = await journal.claim_named("ended", "other", journal.clock(), 15)
    assert claim is not None
    await journal.append("ended", [RUNNING, COMPLETED], fence=claim.fence)
    for name in ("mine", "mine", "nobody"):
        await put_job(journal, {"task_id": name})
    runner.free_slots = 1
    runner.leave()
    await no_jobs(journal)
    assert sorted(runner.asked) == ["ended", "mine", "mine", "mine", "nobody", "theirs"]
    assert runner.claimed == ["mine"]


async def test_a_job_that_names_no_task_is_dropped_with_a_log_line(
    journal: PostgresJournal, runner: Runner, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "sidecar.fleet.dispatch")
    hostile: list[object] = [{}, [1], "'; DROP TABLE tasks", {"task_id": 7}, {"task_id": "t", "more": 1}, None]
    for args in hostile:
        await put_job(journal, args)
    await put_job(journal, {"task_id": "t_1"}, name="os.system")
    await journal.create(new_task("t_1"))
    await until_true(lambda: runner.claimed == ["t_1"])
    await no_jobs(journal)
    assert runner.asked == ["t_1"]
    assert sum("names no task" in record.message for record in caplog.records) == len(hostile) + 1


async def test_a_worker_that_loses_all_connections_gets_jobs_again_without_a_word_of_procrastinate(
    journal: PostgresJournal, runner: Runner, caplog: pytest.LogCaptureFixture
) -> None:
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid != %s"
    async with await psycopg.AsyncConnection.connect(journal.conninfo, autocommit=True) as other:
        assert (await other.execute(cut, (other.info.backend_pid,))).rowcount > 2
    await journal.create(new_task("t_1"))
    await until_true(lambda: runner.claimed == ["t_1"])
    assert not [record for record in caplog.records if record.name.startswith("procrastinate")]
    logging.getLogger("procrastinate.worker").error("Something else")
    assert caplog.records[-1].message == "Something else"


async def test_a_worker_whose_heartbeat_comes_late_starts_all_the_same(
    journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "START_SECONDS", 0)
    await journal.create(new_task("t_1"))
    late = Runner(journal)
    async with dispatching(journal, late):
        await until_true(lambda: late.claimed == ["t_1"])


async def test_the_leader_defers_a_job_that_vanished_and_drops_those_of_dead_workers(
    journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leading, "REPAIR_SECONDS", 0.05)
    for name in ("deleted", "fetched", "kept"):
        await journal.create(new_task(name))
    await journal.query("DELETE FROM procrastinate_jobs WHERE queueing_lock = 'deleted' RETURNING true")
    await journal.query("UPDATE procrastinate_jobs SET status = 'doing' WHERE queueing_lock = 'fetched' RETURNING true")

    async def repaired() -> bool:
        # What waited without a job comes first.
        wanted = [("default", "kept", -2, "todo"), *(("default", name, -1, "todo") for name in ("deleted", "fetched"))]
        return await jobs(journal) == wanted

    leader = Leader(journal, "a")
    leader.start()
    try:
        await until_true(repaired)
    finally:
        await leader.close()


async def test_a_worker_whose_heartbeat_was_removed_beats_again(journal: PostgresJournal) -> None:
    fleet = SharedFleet(journal)

    async def statuses() -> list[str]:
        return [worker.status for worker in (await fleet.state()).workers]

    await journal.create(new_task("t_1"))
    assert await journal.claim_named("t_1", "me", now=0, lease=15) is not None
    async with dispatching(journal, Runner(journal)) as dispatcher:
        member = Member("me", "default", 2)
        membership = Membership(journal, dispatcher, member, lambda: ["t_1"], lambda: None, lambda: None)
        await membership._beat()
        assert await statuses() == ["running"]
        assert (await fleet.state()).workers[0].tasks == ["t_1"]
        await journal.query("DELETE FROM procrastinate_workers RETURNING true")
        assert await statuses() == ["dead"]
        # Others run them, so they don't count for `brain fleet scale`.
        assert (await fleet.state()).workers[0].tasks == []

        async def beats() -> bool:
            await membership._beat()
            return await statuses() == ["running"]

        await until_true(beats)
        await membership.close()


async def test_a_task_of_a_worker_that_beats_is_lost_a_second_later(journal: PostgresJournal) -> None:
    await journal.query("INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id")
    await journal.query(
        "INSERT INTO workers (id, pool, host, pid, status, slots, tasks, resources, beat)"
        " SELECT 'me', '', '', 1, 'running', 1, '{}', '{}', id FROM procrastinate_workers RETURNING id"
    )
    await journal.create(new_task("t_1"))
    assert await journal.claim_named("t_1", "me", now=0, lease=15) is not None
    assert await journal.claim_lost("leader", now=15.9, lease=15) is None
    claim = await journal.claim_lost("leader", now=16.1, lease=15)
    assert claim is not None and claim.fence == 2
    await journal.release("t_1")

    assert await journal.claim_named("t_1", "me", now=0, lease=15) is not None
    await journal.query("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '16 s' RETURNING id")
    claim = await journal.claim_lost("leader", now=15.1, lease=15)
    assert claim is not None and claim.fence == 4
