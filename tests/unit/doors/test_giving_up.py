"""What was given up stays visible, can be tried again, and never crowds out what is new."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecar.doctor.checks import check_doors
from sidecar.doctor.report import DoctorContext
from sidecar.doors.dead import list_dead, retry_dead
from sidecar.doors.deliveries import Arrival, Deliveries, DeliveriesFull
from sidecar.doors.http import NotSent
from sidecar.doors.outbox import DoorsOutbox, Letter, NewLetter
from sidecar.doors.sender import Sender
from sidecar.doors.store import FILE, DoorsStore
from tests.waiting import until_true


class Channel:
    """Refuses what it is told to, and keeps the rest."""

    prefix = "test:"

    def __init__(self) -> None:
        self.refuses = True
        self.sent: list[Letter] = []

    def write(self, event: object, task: object) -> list[NewLetter]:
        return []

    async def send(self, letter: Letter) -> None:
        if self.refuses:
            raise NotSent("the server answered 400", None, 400)
        self.sent.append(letter)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[DoorsStore]:
    opened = DoorsStore(tmp_path / FILE)
    yield opened
    await opened.close()


def arrival(name: str) -> Arrival:
    return Arrival("github", name, "issues", "", json.dumps({"name": name}).encode(), {"name": name})


async def test_a_refused_letter_is_listed_shown_by_the_doctor_and_sent_when_tried_again(
    store: DoorsStore, tmp_path: Path
) -> None:
    Deliveries(store)
    outbox, channel = DoorsOutbox(store), Channel()
    sender = Sender(outbox, [channel])
    running = asyncio.create_task(sender.loop.run())
    try:
        await outbox.offer(NewLetter("k", "test:x", "hello"))
        await outbox.offer(NewLetter("l", "nowhere:x", "for a door that is closed"))
        await until_true(lambda: list_dead(tmp_path))
        [dead] = list_dead(tmp_path)
        assert (dead.label, dead.subject, dead.why) == ("out-1", "test:x", "the server answered 400")
        [found] = check_doors(DoctorContext(tmp_path, tmp_path, {}))
        assert found.state == "note" and "1 messages were given up" in found.found
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
    deliveries = Deliveries(store)
    for name in "abc":
        assert await deliveries.add(arrival(name), 3)
    with pytest.raises(DeliveriesFull):
        await deliveries.add(arrival("d"), 3)
    assert not await deliveries.add(arrival("a"), 3)
    [first, *_] = await deliveries.due(10)
    await deliveries.settle(first, "done")
    assert await deliveries.add(arrival("d"), 3)


def test_where_no_door_ever_opened_nothing_was_given_up(tmp_path: Path) -> None:
    assert list_dead(tmp_path) == [] and retry_dead(tmp_path, []) == []
    assert not (tmp_path / FILE).exists()
