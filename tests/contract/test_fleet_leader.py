"""One leader at a time, and another one when it is gone or stopped."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from sidecar.fleet import leader as leading
from sidecar.fleet.leader import Leader
from sidecar.journal.postgres.journal import PostgresJournal
from tests.contract.journals import RUNNING, new_task
from tests.support.servers import Postgres
from tests.waiting import SECONDS, until_true

Start = Callable[[str], Awaitable[Leader]]


@pytest.fixture
async def journal(postgres: Postgres) -> AsyncIterator[PostgresJournal]:
    opened = await PostgresJournal.open(postgres.url, schema=f"test_{secrets.token_hex(6)}")
    yield opened
    await opened.close()


@pytest.fixture
async def start(journal: PostgresJournal, postgres: Postgres) -> AsyncIterator[Start]:
    """Starts a leader by its name, with a journal of its own as another process has."""
    async with AsyncExitStack() as stack:

        async def start_one(name: str) -> Leader:
            own = await PostgresJournal.open(postgres.url, schema=journal.schema)
            stack.push_async_callback(own.close)
            leader = Leader(own, name)
            stack.push_async_callback(leader.close)
            leader.start()
            return leader

        yield start_one


async def leader_of(journal: PostgresJournal, *unlike: str | None) -> str:
    async def name() -> str | None:
        ((found,),) = await journal.query("SELECT leader FROM leadership")
        return None if found in unlike else found

    await until_true(name)
    return str(await name())


async def lose_task(journal: PostgresJournal) -> None:
    """A task runs on a worker whose lease has expired."""
    await journal.create(new_task("t_1"))
    claim = await journal.claim_named("t_1", "dead", journal.clock(), lease=3_600)
    assert claim is not None
    await journal.append("t_1", [RUNNING], fence=claim.fence)
    # Not before: a leader at work takes an expired task at once.
    await journal.query("UPDATE tasks SET lease_until = 0 RETURNING true")


async def is_queued_again(journal: PostgresJournal) -> None:
    async def is_queued() -> bool:
        return (await journal.task("t_1")).status == "queued"

    await until_true(is_queued)


async def test_a_leader_waits_for_living_workers_only_after_an_outage(
    journal: PostgresJournal, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leading, "GRACE_SECONDS", 3_600)
    monkeypatch.setattr(leading, "LOOK_SECONDS", 0.01)
    await lose_task(journal)
    # Nobody reached the database for a minute, so every lease has expired.
    await journal.query("UPDATE leadership SET at = now() - interval '1 minute' RETURNING true")
    looks: set[object] = set()
    leader = await start("a")
    async with asyncio.timeout(SECONDS):
        while len(looks) < 5:
            looks |= {row[0] for row in await journal.query("SELECT at FROM leadership WHERE leader = 'a'")}
    assert (await journal.task("t_1")).status == "running"
    await leader.close()

    await start("b")
    await is_queued_again(journal)


async def test_a_leader_that_ends_or_stops_is_replaced_and_expired_tasks_are_queued_again(
    journal: PostgresJournal, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leading, "GRACE_SECONDS", 0)
    monkeypatch.setattr(leading, "STALE_SECONDS", 0.5)
    leaders = {name: await start(name) for name in "abc"}
    first = await leader_of(journal, None)
    await leaders[first].close()
    second = await leader_of(journal, first)

    async def stopped() -> None:
        await asyncio.Event().wait()

    # It stands still with its lock, as a stopped process does.
    monkeypatch.setattr(leaders[second], "_queue_again", stopped)
    third = await leader_of(journal, first, second)
    assert {first, second, third} == set("abc")

    await lose_task(journal)
    await is_queued_again(journal)
