"""One leader at a time, and another one when it is gone or stopped."""

import asyncio
import secrets

import pytest

from sidecar.fleet import leader as leading
from sidecar.fleet.leader import Leader
from sidecar.journal.postgres.journal import PostgresJournal
from tests.contract.journals import RUNNING, new_task
from tests.support.servers import Postgres
from tests.waiting import SECONDS, until_true


async def leader_of(journal: PostgresJournal, *unlike: str | None) -> str:
    async def name() -> str | None:
        ((found,),) = await journal.query("SELECT leader FROM leadership")
        return None if found in unlike else found

    await until_true(name)
    return str(await name())


async def lose_task(journal: PostgresJournal) -> None:
    """A task runs on a worker whose lease has expired."""
    await journal.create(new_task("t_1"))
    claim = await journal.claim("dead", now=journal.clock() - 20, lease=15)
    assert claim is not None
    await journal.append("t_1", [RUNNING], fence=claim.fence)


async def is_queued_again(journal: PostgresJournal) -> None:
    async def is_queued() -> bool:
        return (await journal.task("t_1")).status == "queued"

    await until_true(is_queued)


async def test_a_leader_waits_for_living_workers_only_after_an_outage(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leading, "GRACE_SECONDS", 3_600)
    monkeypatch.setattr(leading, "LOOK_SECONDS", 0.01)
    journal = await PostgresJournal.open(postgres.url, schema=f"test_{secrets.token_hex(6)}")
    await lose_task(journal)
    # Nobody reached the database for a minute, so every lease has expired.
    await journal.query("UPDATE leadership SET at = now() - interval '1 minute' RETURNING true")
    looks: set[object] = set()
    leader = Leader(journal, "a")
    leader.start()
    async with asyncio.timeout(SECONDS):
        while len(looks) < 5:
            looks |= {row[0] for row in await journal.query("SELECT at FROM leadership WHERE leader = 'a'")}
    assert (await journal.task("t_1")).status == "running"
    await leader.close()

    leader = Leader(journal, "b")
    leader.start()
    await is_queued_again(journal)
    await leader.close()
    await journal.close()


async def test_a_leader_that_ends_or_stops_is_replaced_and_expired_tasks_are_queued_again(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leading, "GRACE_SECONDS", 0)
    monkeypatch.setattr(leading, "STALE_SECONDS", 0.5)
    schema = f"test_{secrets.token_hex(6)}"
    journals = {name: await PostgresJournal.open(postgres.url, schema=schema) for name in "abc"}
    leaders = {name: Leader(journal, name) for name, journal in journals.items()}
    watching = journals["a"]
    for each in leaders.values():
        each.start()
    first = await leader_of(watching, None)
    await leaders[first].close()
    second = await leader_of(watching, first)

    async def stopped() -> None:
        await asyncio.Event().wait()

    # It stands still with its lock, as a stopped process does.
    monkeypatch.setattr(leaders[second], "_queue_again", stopped)
    third = await leader_of(watching, first, second)
    assert {first, second, third} == set("abc")

    await lose_task(watching)
    await is_queued_again(watching)
    for name, journal in journals.items():
        await leaders[name].close()
        await journal.close()
