"""What every journal promises about claims: who may work on a task, and for how long."""

import asyncio
import gc
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from sidecar.journal.errors import LeaseLost
from sidecar.journal.port import Journal, Record
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import (
    StatusEvent,
)
from sidecar.wire.tasks import Priority, Status
from tests.contract.journals import (
    RUNNING,
    claim,
    claim_lost,
    claim_next,
    new_task,
    step,
)
from tests.waiting import SECONDS, loop_turns


@pytest.mark.parametrize("open_journal", ["sqlite"], indirect=True)
async def test_tasks_are_claimed_by_priority_and_then_by_age(journal: Journal) -> None:
    priorities: list[Priority] = ["low", "normal", "high", "normal"]
    for number, priority in enumerate(priorities):
        await journal.create(new_task(f"t_{number}", priority=priority))
    claimed = [await claim_next(journal, "me", now=0) for _ in range(5)]
    assert [each and each.task_id for each in claimed] == ["t_2", "t_1", "t_3", "t_0", None]


async def test_a_claim_brings_the_request_and_the_records(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    await journal.append("t_1", records=[Record("step", "a", "1")])
    claimed = await claim(journal, "t_1")
    assert claimed is not None
    assert claimed.request.task == "do t_1"
    assert list(claimed.records) == [Record("step", "a", "1")]


@pytest.mark.parametrize("open_journal", ["sqlite"], indirect=True)
async def test_a_claim_says_whether_there_is_another_one(journal: Journal) -> None:
    for number in range(3):
        await journal.create(new_task(f"t_{number}"))
    claimed = [await claim_next(journal, "one", now=0) for _ in range(3)]
    assert [each and each.more for each in claimed] == [True, True, False]
    await journal.create(new_task("t_new"))
    again = [await claim_next(journal, "two", now=11) for _ in range(4)]
    assert [each and (each.task_id, each.more) for each in again] == [
        ("t_new", True),
        ("t_0", True),
        ("t_1", True),
        ("t_2", False),
    ]


async def test_what_is_claimed_after_a_creation_is_found_though_no_one_waited_for_it(journal: Journal) -> None:
    creating = journal.create(new_task("t_1"))
    claimed = await claim(journal, "t_1")
    assert claimed is not None and claimed.task_id == "t_1"
    assert (await creating)[1]


async def test_an_expired_lease_returns_the_task_to_the_queue(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    first = await claim(journal, "t_1", "one")
    assert first is not None
    await journal.append("t_1", [RUNNING], fence=first.fence)
    assert await claim_lost(journal, "two", now=9) is None
    second = await claim_lost(journal, "two", now=11)
    assert second is not None
    assert second.fence > first.fence


async def test_whoever_lost_the_claim_cannot_write_another_word(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    first = await claim(journal, "t_1", "one")
    second = await claim_lost(journal, "two", now=11)
    assert first is not None
    assert second is not None
    with pytest.raises(LeaseLost):
        await journal.append("t_1", [step(1)], fence=first.fence)
    with pytest.raises(LeaseLost):
        await journal.renew("t_1", first.fence, now=12, lease=10)
    await journal.append("t_1", [step(1)], fence=second.fence)


async def test_a_renewed_lease_is_not_taken(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    claimed = await claim(journal, "t_1", "one")
    assert claimed is not None
    await journal.renew("t_1", claimed.fence, now=8, lease=10)
    assert await claim_lost(journal, "two", now=15) is None


async def test_a_lease_that_is_given_while_the_disk_takes_nothing_counts_from_when_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr("sidecar.journal.sqlite.time", clock)
    journal = await SqliteJournal.open(tmp_path / "journal.db")
    for name in ("t_1", "t_2"):
        await journal.create(new_task(name))
    first = await journal.claim("one", now=0, lease=1)
    assert first is not None
    with closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        renewed = asyncio.create_task(journal.renew(first.task_id, first.fence, now=1, lease=1))
        second = asyncio.create_task(journal.claim("one", now=1, lease=1))
        await loop_turns(5)
        assert not renewed.done() and not second.done()
        clock.monotonic = lambda: 0.5  # so long nothing could be written
        other.execute("ROLLBACK")
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(renewed, second)
    assert await journal.claim("two", now=2.4, lease=1) is None
    assert await journal.claim("two", now=60, lease=1) is not None
    await journal.close()


async def test_what_others_left_open_is_found(journal: Journal) -> None:
    for name in ("t_1", "t_2", "t_3"):
        await journal.create(new_task(name))
    first = await claim(journal, "t_1", "dead")
    mine = await claim(journal, "t_2")
    assert first is not None
    assert mine is not None
    await journal.append("t_1", [RUNNING], fence=first.fence)
    await journal.append("t_2", [RUNNING], fence=mine.fence)
    assert [task.id for task in await journal.left_open("me")] == ["t_1"]


async def test_a_task_whose_claimer_died_before_its_first_word_is_found_and_can_be_claimed(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    await claim(journal, "t_1", "dead")
    assert [task.id for task in await journal.left_open("me")] == ["t_1"]
    assert await claim(journal, "t_1", now=1) is None
    await journal.release("t_1")
    assert await journal.left_open("me") == []
    assert await claim(journal, "t_1", now=1) is not None


async def test_a_cancelling_that_no_one_holds_can_be_claimed_and_finished(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    await claim(journal, "t_1", "dead")
    await journal.append("t_1", [RUNNING, StatusEvent(status=Status.CANCELLING)])
    assert await claim(journal, "t_1", now=1) is None
    await journal.release("t_1")
    claimed = await claim(journal, "t_1", now=1)
    assert claimed is not None
    assert claimed.status is Status.CANCELLING


async def test_a_refused_write_that_is_not_awaited_stays_silent(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    await journal.close()
    heard: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: heard.append(context))
    journal.put_blob("t_1", b"late")
    gc.collect()
    await loop_turns(1)
    assert heard == []
