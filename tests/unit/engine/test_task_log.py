"""What a task writes without waiting for it is written all the same, in order, and at once where somebody watches."""

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from sidecar.engine.state import RecordKind
from sidecar.engine.steps import StepKey
from sidecar.engine.task_log import TaskLog
from sidecar.journal.errors import WrongStatus
from sidecar.journal.port import NewTask, Record
from sidecar.wire.events import DeltaEvent, MessageEvent, StatusEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import SECONDS, loop_turns


class HeardJournal(ScratchJournal):
    """`heard` says that something was handed to it."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = asyncio.Event()

    def append(self, *what: Any, **options: Any) -> Any:
        self.heard.set()
        return super().append(*what, **options)


async def _open_log(journal: ScratchJournal) -> TaskLog:
    request = StoredRequest(task="x", workspace="/w", conversation_id="c_1", context=Context(), options=Options())
    await journal.create(NewTask("t_1", request, [StatusEvent(status=Status.QUEUED)]))
    claim = await journal.claim("me", now=0, lease=60)
    assert claim is not None
    return TaskLog(claim, journal)


def _said(text: str) -> MessageEvent:
    return MessageEvent(message_id=text, role="assistant", agent="coder", text=text)


async def _told(journal: ScratchJournal) -> list[str]:
    events = [json.loads(event.data) for event in (await journal.events("t_1")).events]
    return [event.get("text") or event.get("status") for event in events]


async def test_what_is_waited_for_takes_with_it_what_was_written_before() -> None:
    journal = HeardJournal()
    log = await _open_log(journal)
    log.enqueue(_said("one"), records=[Record(RecordKind.STEP, "r1.route", "1")])
    log.enqueue(_said("two"))
    assert not journal.heard.is_set()
    assert log.state.steps == {StepKey(1, "route"): "1"}, "remembered at once"
    await log.append(_said("three"))
    assert await _told(journal) == ["queued", "one", "two", "three"]
    assert [(record.key, record.seq) for record in await journal.records("t_1")] == [("r1.route", 2)]


async def test_it_is_written_also_if_nothing_comes_after_it() -> None:
    journal = HeardJournal()
    log = await _open_log(journal)
    log.enqueue(_said("one"))
    async with asyncio.timeout(SECONDS):
        await journal.heard.wait()
    await journal.append("t_1", [_said("two")])
    assert await _told(journal) == ["queued", "one", "two"]


async def test_a_change_of_status_that_is_refused_takes_nothing_with_it() -> None:
    journal = ScratchJournal()
    log = await _open_log(journal)
    log.enqueue(_said("one"))
    with pytest.raises(WrongStatus):
        await log.compare_and_set(StatusEvent(status=Status.COMPLETED), when=frozenset({Status.WAITING}))
    assert await _told(journal) == ["queued", "one"]


async def test_whoever_follows_does_not_wait_for_it() -> None:
    journal = HeardJournal()
    log = await _open_log(journal)
    async with aclosing(journal.tail("t_1")) as batches:
        await anext(batches)
        log.enqueue(_said("one"))
        await loop_turns()
        assert journal.heard.is_set()


async def test_what_is_said_live_comes_after_what_was_written_before_it() -> None:
    journal = ScratchJournal()
    log = await _open_log(journal)
    async with asyncio.timeout(SECONDS), aclosing(journal.tail("t_1", after=1)) as tail:
        watching = asyncio.ensure_future(anext(tail))
        while not journal.followed("t_1"):
            await loop_turns()
        await loop_turns()
        log.enqueue(_said("one"))
        log.live(DeltaEvent(message_id="two", role="assistant", agent="coder", text="t", kind="text"))
        seen = [event.type for event in await watching]
        while "delta" not in seen:
            seen += [event.type for event in await anext(tail)]
    assert seen == ["message", "delta"]
