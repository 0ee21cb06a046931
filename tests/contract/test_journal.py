"""What every journal promises, whatever it keeps its words in."""

import asyncio
import json
import random
from collections.abc import Callable
from contextlib import aclosing

import pytest

from sidecar.journal.errors import DuplicateRecord, QueueFull, UnknownTask, WrongStatus
from sidecar.journal.port import PAGE_CHARACTERS, Entry, Journal, Record, Retention, TaskFilter
from sidecar.wire.events import (
    CompleteEvent,
    ErrorEvent,
    MessageEvent,
    RouteEvent,
    StatusEvent,
)
from sidecar.wire.tasks import Status, TaskResult, Usage
from tests.contract.journals import (
    COMPLETED,
    QUEUED,
    RUNNING,
    new_task,
    seqs,
    step,
)
from tests.waiting import SECONDS

# -- tasks and events --------------------------------------------------------------------------------------------------


async def test_a_new_task_is_queued_and_can_be_read(journal: Journal) -> None:
    task, is_new = await journal.create(new_task("t_1"))
    assert is_new
    assert (task.id, task.status, task.last_seq) == ("t_1", Status.QUEUED, 1)
    assert await journal.task("t_1") == task


async def test_the_same_idempotency_key_gives_the_same_task(journal: Journal) -> None:
    await journal.create(new_task("t_1", key="k"))
    task, is_new = await journal.create(new_task("t_2", key="k"))
    assert (task.id, is_new) == ("t_1", False)
    with pytest.raises(UnknownTask):
        await journal.task("t_2")


async def test_a_full_queue_takes_no_more(journal: Journal) -> None:
    await journal.create(new_task("t_1"), max_queued=1)
    with pytest.raises(QueueFull):
        await journal.create(new_task("t_2"), max_queued=1)


async def test_events_are_numbered_per_task_from_one(journal: Journal) -> None:
    for name in ("t_1", "t_2"):
        await journal.create(new_task(name))
        await journal.append(name, [RUNNING, step(1)])
    assert await seqs(journal, "t_1") == [1, 2, 3]
    assert await seqs(journal, "t_2") == [1, 2, 3]


async def test_an_event_goes_out_as_the_json_of_the_wire(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    (stored,) = await journal.append("t_1", [step(4)])
    data = json.loads(stored.data)
    assert data.pop("at").endswith("Z")
    assert data == {
        "type": "step",
        "step": 4,
        "total": 9,
        "message": "step 4",
        "agent": "coder",
        "state": "completed",
        "seq": 2,
        "taskId": "t_1",
    }


async def test_appends_that_no_one_awaits_keep_their_order(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    for number in range(1, 50):
        journal.append("t_1", [step(number)])
    await journal.append("t_1", [step(50)])
    page = await journal.events("t_1", after=1)
    assert [json.loads(event.data)["step"] for event in page.events] == list(range(1, 51))


async def test_pages_end_where_they_are_told(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    await journal.append("t_1", [step(number) for number in range(1, 10)])
    page = await journal.events("t_1", after=3, limit=4)
    assert [event.seq for event in page.events] == [4, 5, 6, 7]
    assert page.last_seq == 10


async def test_the_row_is_what_the_events_say(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    result = TaskResult(summary="done", files_modified=["a"], verification=None, usage=Usage())
    await journal.append(
        "t_1",
        [
            RUNNING,
            RouteEvent(intent="chat", confidence=1, pipeline=["coder"], why="so"),
            step(3),
            CompleteEvent(result=result),
            COMPLETED,
        ],
    )
    task = await journal.task("t_1")
    assert (task.status, task.intent, task.pipeline) == (Status.COMPLETED, "chat", ["coder"])
    assert (task.progress.step, task.progress.total) == (3, 9)
    assert task.result == result
    assert task.started_at is not None
    assert task.ended_at is not None
    assert task.last_seq == 6


async def test_going_on_clears_the_end_and_the_error(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    error = ErrorEvent(code="x", message="y", recoverable=True)
    await journal.append("t_1", [error, StatusEvent(status=Status.FAILED)])
    failed = await journal.task("t_1")
    assert failed.error is not None
    assert failed.ended_at is not None
    await journal.append("t_1", [QUEUED])
    again = await journal.task("t_1")
    assert again.error is None
    assert again.ended_at is None


async def test_an_unknown_task_is_said_to_be_unknown(journal: Journal) -> None:
    for asking in (journal.task("t_0"), journal.events("t_0"), journal.records("t_0"), journal.request("t_0")):
        with pytest.raises(UnknownTask):
            await asking
    with pytest.raises(UnknownTask):
        await journal.append("t_0", [RUNNING])


async def test_tasks_are_listed_newest_first_by_page_and_status(journal: Journal) -> None:
    for number in range(5):
        await journal.create(new_task(f"t_{number}"))
    await journal.append("t_3", [RUNNING])
    assert [task.id for task in await journal.tasks(limit=2)] == ["t_4", "t_3"]
    assert [task.id for task in await journal.tasks(limit=2, before="t_3")] == ["t_2", "t_1"]
    assert [task.id for task in await journal.tasks(TaskFilter(statuses=[Status.RUNNING]))] == ["t_3"]
    conversation = (await journal.task("t_2")).conversation_id
    assert "t_2" in [task.id for task in await journal.tasks(TaskFilter(conversation=conversation))]
    assert await journal.tasks(TaskFilter(conversation="another")) == []
    assert await journal.counts() == {Status.QUEUED: 4, Status.RUNNING: 1}


async def test_a_conversation_is_listed_newest_first(journal: Journal) -> None:
    for number, conversation in enumerate(("c_1", "c_2", "c_1")):
        await journal.create(new_task(f"t_{number}", conversation=conversation))
    assert [task.id for task in await journal.tasks(TaskFilter(conversation="c_1"))] == ["t_2", "t_0"]


# -- records and refusals ----------------------------------------------------------------------------------------------


async def test_records_come_back_in_the_order_they_were_written(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    written = [Record("step", "b", "1"), Record("step", "a", "2"), Record("intent", "b", "3")]
    await journal.append("t_1", records=written[:2])
    await journal.append("t_1", records=written[2:])
    assert list(await journal.records("t_1")) == written


async def test_a_record_belongs_to_the_event_that_came_with_it_or_comes_next(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    await journal.append("t_1", records=[Record("step", "a", "1")])
    await journal.append("t_1", [step(1), step(2)], [Record("step", "b", "2")])
    assert [record.seq for record in await journal.records("t_1")] == [2, 3]


async def test_tasks_with_something_to_undo_are_found(journal: Journal) -> None:
    for name in ("t_1", "t_2"):
        await journal.create(new_task(name))
    await journal.append("t_2", records=[Record("undo", "1", "{}"), Record("undo", "2", "{}")])
    assert await journal.tasks_with_undo() == ["t_2"]


async def test_a_second_record_of_the_same_kind_and_key_is_refused_with_everything_that_came_with_it(
    journal: Journal,
) -> None:
    await journal.create(new_task("t_1"))
    await journal.append("t_1", records=[Record("answer", "a", "1")])
    with pytest.raises(DuplicateRecord):
        await journal.append("t_1", [RUNNING], [Record("step", "new", "1"), Record("answer", "a", "2")])
    assert await seqs(journal, "t_1") == [1]
    assert list(await journal.records("t_1")) == [Record("answer", "a", "1")]


async def test_a_change_that_does_not_fit_the_status_is_refused(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    with pytest.raises(WrongStatus) as refusal:
        await journal.append("t_1", [COMPLETED], when={Status.RUNNING})
    assert refusal.value.status is Status.QUEUED
    assert (await journal.task("t_1")).status is Status.QUEUED


async def test_one_refusal_takes_no_one_else_with_it(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    good = journal.append("t_1", [step(1)])
    bad = journal.append("t_1", [COMPLETED], when={Status.RUNNING})
    also_good = journal.append("t_1", [step(2)])
    results = await asyncio.gather(good, bad, also_good, return_exceptions=True)
    assert isinstance(results[1], WrongStatus)
    assert await seqs(journal, "t_1") == [1, 2, 3]


async def test_whoever_repeats_a_record_is_refused_alone_among_those_who_write_at_the_same_time(
    journal: Journal,
) -> None:
    await journal.create(new_task("t_1"))
    writes = [
        journal.append("t_1", [step(1)], [Record("answer", "a", "1")]),
        journal.append("t_1", [step(2)], [Record("answer", "a", "2"), Record("step", "lost", "2")]),
        journal.append("t_1", [step(3)], [Record("answer", "b", "3")]),
        journal.append("t_1", [COMPLETED], when={Status.RUNNING}),
        journal.append("t_1", [step(4)], [Record("answer", "b", "4")]),
        journal.append("t_1", [step(5)]),
    ]
    results = await asyncio.gather(*writes, return_exceptions=True)
    refused = [type(result) if isinstance(result, Exception) else None for result in results]
    assert refused == [None, DuplicateRecord, None, WrongStatus, DuplicateRecord, None]
    events = (await journal.events("t_1")).events
    assert [json.loads(event.data)["step"] for event in events[1:]] == [1, 3, 5]
    assert [(record.key, record.body) for record in await journal.records("t_1")] == [("a", "1"), ("b", "3")]


async def test_many_events_and_records_at_once_keep_their_order(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    numbers = range(1, 300)
    records = [Record("step", f"{number}", f"{number}") for number in numbers]
    await journal.append("t_1", [step(number) for number in numbers], records)
    events = (await journal.events("t_1", after=1)).events
    assert [json.loads(event.data)["step"] for event in events] == list(numbers)
    assert [record.body for record in await journal.records("t_1")] == [str(number) for number in numbers]


async def test_a_page_holds_no_more_than_can_be_carried_and_the_next_goes_on_where_it_ended(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    long = MessageEvent(message_id="m", role="assistant", agent="coder", text="x" * (PAGE_CHARACTERS // 3))
    await journal.append("t_1", [long] * 4)
    first = await journal.events("t_1", after=1)
    assert ([event.seq for event in first.events], first.last_seq) == ([2, 3], 5)
    longer = long.model_copy(update={"text": "x" * PAGE_CHARACTERS})
    await journal.append("t_1", [longer])
    assert [event.seq for event in (await journal.events("t_1", after=5)).events] == [6]


async def test_a_reader_who_is_offered_more_than_it_can_hold_still_gets_all_of_it(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    text = "x" * (PAGE_CHARACTERS // 3)
    heard: list[int | None] = []
    async with asyncio.timeout(SECONDS), aclosing(journal.tail("t_1")) as batches:
        heard += [event.seq for event in await anext(batches)]
        message = MessageEvent(message_id="m", role="assistant", agent="coder", text=text)
        await asyncio.gather(*(journal.append("t_1", [message]) for _ in range(8)))
        await journal.append("t_1", [COMPLETED])
        async for batch in batches:
            heard += [event.seq for event in batch]
    assert heard == list(range(1, 11))


async def test_what_was_kept_back_comes_first_and_its_records_belong_to_its_own_events(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    earlier = [
        Entry("2026-01-01T00:00:00.001Z", [step(1), step(2)], [Record("step", "a", "1")]),
        Entry("2026-01-01T00:00:00.002Z", [step(3)], [Record("step", "b", "2")]),
    ]
    await journal.append("t_1", [step(4)], [Record("step", "c", "3")], earlier=earlier)
    events = [json.loads(event.data) for event in (await journal.events("t_1", after=1)).events]
    assert [(event["seq"], event["step"]) for event in events] == [(2, 1), (3, 2), (4, 3), (5, 4)]
    assert [event["at"] for event in events[:3]] == [earlier[0].at, earlier[0].at, earlier[1].at]
    records = await journal.records("t_1")
    assert [(record.key, record.body, record.seq) for record in records] == [
        ("a", "1", 3),
        ("b", "2", 4),
        ("c", "3", 5),
    ]


async def test_what_was_kept_back_is_written_whole_or_not_at_all(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    await journal.append("t_1", records=[Record("step", "a", "1")])
    earlier = [Entry.now([step(1)]), Entry.now([step(2)], [Record("step", "a", "again")])]
    with pytest.raises(DuplicateRecord):
        await journal.append("t_1", [step(3)], earlier=earlier)
    assert await seqs(journal, "t_1") == [1]
    await journal.append("t_1", earlier=[Entry.now([step(1)])])
    assert await seqs(journal, "t_1") == [1, 2]


# -- blobs and caps ----------------------------------------------------------------------------------------------------


async def test_a_blob_comes_back_byte_for_byte(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    data = bytes(range(256)) * 100
    digest = await journal.put_blob("t_1", data)
    assert digest == await journal.put_blob("t_1", data)
    assert await journal.blob(digest) == data
    assert await journal.blob("0" * 64) is None


async def test_only_ended_tasks_are_dropped_and_their_blobs_with_them(
    open_journal: Callable[[Retention], object],
) -> None:
    journal: Journal = await open_journal(Retention(days=-1))  # type: ignore[misc]
    for name in ("t_1", "t_2"):
        await journal.create(new_task(name))
    shared = await journal.put_blob("t_1", b"shared")
    alone = await journal.put_blob("t_1", b"alone")
    await journal.put_blob("t_2", b"shared")
    await journal.append("t_1", [COMPLETED])
    assert await journal.prune() == 1
    with pytest.raises(UnknownTask):
        await journal.task("t_1")
    assert (await journal.task("t_2")).id == "t_2"
    assert await journal.blob(shared) == b"shared"
    assert await journal.blob(alone) is None


async def test_over_the_size_contents_for_undo_go_before_any_task(open_journal: Callable[[Retention], object]) -> None:
    journal: Journal = await open_journal(Retention(bytes=700_000))  # type: ignore[misc]
    contents = []
    for number in range(10):
        await journal.create(new_task(f"t_{number}"))
        contents.append(await journal.put_blob(f"t_{number}", random.Random(number).randbytes(100_000)))
        await journal.append(f"t_{number}", [COMPLETED])
    assert await journal.prune() == 0
    assert len(await journal.tasks()) == 10
    left = [await journal.blob(digest) is not None for digest in contents]
    assert not left[0] and left[-1] and left == sorted(left), "only what must go goes, oldest first"


async def test_over_the_size_only_as_many_tasks_go_as_must(open_journal: Callable[[Retention], object]) -> None:
    journal: Journal = await open_journal(Retention(bytes=900_000))  # type: ignore[misc]
    for number in range(10):
        await journal.create(new_task(f"t_{number}"))
        long = MessageEvent(message_id="m", role="user", agent="", text="y" * 100_000)
        await journal.append(f"t_{number}", [long, COMPLETED])
    assert 1 <= await journal.prune() <= 4


async def test_over_the_size_the_oldest_go_first(open_journal: Callable[[Retention], object]) -> None:
    journal: Journal = await open_journal(Retention(bytes=400_000))  # type: ignore[misc]
    for number in range(10):
        await journal.create(new_task(f"t_{number}"))
        long = ErrorEvent(code="x", message="y" * 100_000, recoverable=True)
        await journal.append(f"t_{number}", [long, COMPLETED])
    assert await journal.prune() >= 5
    left = [task.id for task in await journal.tasks()]
    assert left
    assert left == [f"t_{number}" for number in range(9, 9 - len(left), -1)]
