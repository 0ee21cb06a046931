"""What was given up stays visible, can be tried again, and never crowds out what is new."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from sidecar.doctor.checks import check_doors
from sidecar.doctor.report import DoctorContext
from sidecar.doors import deliveries as incoming
from sidecar.doors import outbox as outgoing
from sidecar.doors.deliveries import Arrival, Deliveries, DeliveriesFull
from sidecar.doors.http import NotSent
from sidecar.doors.outbox import DoorsOutbox, NewMessage, OutboxMessage
from sidecar.doors.process import Sender
from sidecar.doors.store import FILE, DoorsStore, list_dead, retry_dead
from tests.waiting import until_true


class Channel:
    """Refuses what it is told to, and keeps the rest."""

    prefix = "test:"

    def __init__(self) -> None:
        self.refuses = True
        self.sent: list[OutboxMessage] = []

    def write(self, event: object, task: object) -> list[NewMessage]:
        return []

    async def send(self, letter: OutboxMessage) -> None:
        if self.refuses:
            raise NotSent("the server answered 400", None, 400)
        self.sent.append(letter)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[DoorsStore]:
    opened = DoorsStore(tmp_path / FILE)
    yield opened
    await opened.close()


def arrival(name: str) -> Arrival:
    text = json.dumps({"name": name})
    return Arrival("github", name, "issues", "", text.encode(), text)


async def test_a_refused_letter_is_listed_shown_by_the_doctor_and_sent_when_tried_again(
    store: DoorsStore, tmp_path: Path
) -> None:
    Deliveries(store)
    outbox, channel = DoorsOutbox(store), Channel()
    sender = Sender(outbox, [channel])
    running = asyncio.create_task(sender.loop.run())
    try:
        await outbox.offer(NewMessage("k", "test:x", "hello"))
        await outbox.offer(NewMessage("l", "nowhere:x", "for a door that is closed"))
        await until_true(lambda: list_dead(tmp_path))
        [dead] = list_dead(tmp_path)
        assert (dead.label, dead.subject, dead.why) == ("out-1", "test:x", "the server answered 400")
        [found] = check_doors(DoctorContext(tmp_path, tmp_path, {}))
        assert found.state == "note" and found.found == "given up, but kept: 1 message"
        channel.refuses = False
        assert retry_dead(tmp_path, ["out-9"]) == [] and list_dead(tmp_path)
        assert retry_dead(tmp_path, []) == ["out-1"]
        sender.loop.wake()
        await until_true(lambda: channel.sent)
        # An attempt was made before, so its channel looks first whether that succeeded.
        assert [(letter.body, letter.attempts) for letter in channel.sent] == [("hello", 1)]
        assert list_dead(tmp_path) == []
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_f26_a_full_queue_refuses_what_is_new_and_knows_what_it_has(store: DoorsStore) -> None:
    deliveries = Deliveries(store, limit=3)
    for name in "abc":
        assert await deliveries.add(arrival(name))
    with pytest.raises(DeliveriesFull):
        await deliveries.add(arrival("d"))
    assert not await deliveries.add(arrival("a"))
    [first, *_] = await deliveries.due(10)
    await deliveries.settle(first, "done")
    assert await deliveries.add(arrival("d"))
    # Two at once, and one place.
    [first, *_] = await deliveries.due(10)
    await deliveries.settle(first, "done")
    both = await asyncio.gather(deliveries.add(arrival("e")), deliveries.add(arrival("f")), return_exceptions=True)
    assert both[0] is True and isinstance(both[1], DeliveriesFull)


async def test_deliveries_at_once_share_commits_and_each_hears_whether_it_is_new(store: DoorsStore) -> None:
    deliveries = Deliveries(store)
    names = [*(f"n{number}" for number in range(1_200)), "n1", "n1199"]
    new = await asyncio.gather(*(deliveries.add(arrival(name)) for name in names))
    assert new == [*[True] * 1_200, False, False]
    assert await asyncio.gather(*(deliveries.add(arrival(name)) for name in ("n3", "x", "x"))) == [False, True, False]
    odd = Arrival("slack", "\ud800", "\udfff", "slack:\ud800", b"odd", "{}")
    assert await asyncio.gather(deliveries.add(odd), deliveries.add(arrival("y"))) == [True, True]


async def test_a_job_that_cannot_be_carried_out_fails_alone(store: DoorsStore) -> None:
    deliveries, outbox = Deliveries(store), DoorsOutbox(store)
    bad, good = outbox.write(NewMessage("k", "test:\ud800", "x")), outbox.write(NewMessage("l", "test:y", "x"))
    results = await asyncio.gather(bad, deliveries.add(arrival("a")), good, return_exceptions=True)
    assert isinstance(results[0], UnicodeEncodeError) and results[1:] == [True, None]
    assert [letter.key for letter in await outbox.due(10)] == ["l"]


async def test_what_is_due_is_found_without_reading_what_was_worked_on(store: DoorsStore) -> None:
    """A million old deliveries are remembered; looking for new ones must not take longer for it."""
    Deliveries(store)
    DoorsOutbox(store)
    for sql in (incoming.DUE, outgoing.DUE):
        plan = await store.do(partial(explain, sql))
        assert [row[3] for row in plan if row[3].startswith("SCAN")] == []


def explain(sql: str, connection: sqlite3.Connection) -> list[tuple[int, int, int, str]]:
    return connection.execute(f"EXPLAIN QUERY PLAN {sql}", (0, 1)).fetchall()


def test_where_no_door_ever_opened_nothing_was_given_up(tmp_path: Path) -> None:
    assert list_dead(tmp_path) == [] and retry_dead(tmp_path, []) == []
    assert not (tmp_path / FILE).exists()
