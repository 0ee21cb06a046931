"""A reader of a task gets every event once, in order, whenever they come, and however slow they are."""

import asyncio
import json
from contextlib import aclosing
from itertools import pairwise
from typing import Literal

import pytest

from sidecar.journal.errors import WrongStatus
from sidecar.journal.port import Journal
from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.wire.events import DeltaEvent, Event, MessageEvent, RetryEvent, StatusEvent, ToolOutputEvent
from sidecar.wire.tasks import Status
from tests.contract.journals import COMPLETED, QUEUED, RUNNING, new_task, seqs, step
from tests.waiting import SECONDS, loop_turns


async def followed(journal: Journal, task_id: str, after: int = 0) -> list[int | None]:
    seen: list[int | None] = []
    async with asyncio.timeout(SECONDS):
        async for batch in journal.tail(task_id, after):
            seen += [event.seq for event in batch]
    return seen


async def test_a_tail_replays_then_follows_and_ends_with_the_task(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    reader = asyncio.create_task(followed(journal, "t_1"))
    for number in range(1, 30):
        await journal.append("t_1", [step(number)])
    await journal.append("t_1", [COMPLETED])
    assert await reader == list(range(1, 32))


async def test_a_tail_of_an_ended_task_ends_at_once(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    await journal.append("t_1", [COMPLETED])
    assert await followed(journal, "t_1") == [1, 2]
    assert await followed(journal, "t_1", after=2) == []


async def test_a_tail_goes_on_through_an_end_that_was_not_the_last(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    await journal.append("t_1", [COMPLETED, QUEUED, RUNNING])
    reader = asyncio.create_task(followed(journal, "t_1"))
    await journal.append("t_1", [COMPLETED])
    assert await reader == [1, 2, 3, 4, 5]


async def test_a_tail_goes_on_where_the_task_went_on_before_its_end_was_read(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    async with asyncio.timeout(SECONDS), aclosing(journal.tail("t_1")) as batches:
        assert [event.seq for event in await anext(batches)] == [1]
        await journal.append("t_1", [COMPLETED])
        await journal.append("t_1", [QUEUED])
        assert [event.seq for event in await anext(batches)] == [2, 3]
        await journal.append("t_1", [COMPLETED])
        assert [event.seq async for batch in batches for event in batch] == [4]


async def test_readers_from_any_point_see_no_gap_and_no_repeat_while_it_is_written(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    readers = []
    for number in range(1, 400):
        journal.append("t_1", [step(number)])
        if number % 20 == 0:
            readers.append((number, asyncio.create_task(followed(journal, "t_1", after=number))))
            await loop_turns()
    await journal.append("t_1", [COMPLETED])
    for after, reader in readers:
        assert await reader == list(range(after + 1, 402))


async def test_a_reader_that_falls_behind_still_sees_everything_stored(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    tail = journal.tail("t_1")
    seen = [event.seq for event in await anext(tail)]
    for number in range(2_000):
        journal.append("t_1", [step(number)])
    await journal.append("t_1", [COMPLETED])
    async for batch in tail:
        seen += [event.seq for event in batch]
    assert seen == list(range(1, 2_003))


async def test_a_live_event_reaches_those_who_watch_and_is_not_stored(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    tail = journal.tail("t_1")
    await anext(tail)
    waiting = asyncio.ensure_future(anext(tail))
    await loop_turns()
    delta = DeltaEvent(message_id="m", role="assistant", agent="coder", text="hi", kind="text")
    journal.publish("t_1", delta)
    async with asyncio.timeout(SECONDS):
        (seen,) = await waiting
    assert seen.seq is None
    assert "seq" not in json.loads(seen.data)
    assert json.loads(seen.data)["text"] == "hi"
    assert await seqs(journal, "t_1") == [1]
    await tail.aclose()


async def test_what_was_shown_live_before_an_event_that_was_replayed_is_not_shown_after_it(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    tail = journal.tail("t_1")
    first = asyncio.ensure_future(anext(tail))
    await loop_turns()
    for text in ("half a ", "sentence"):
        delta = DeltaEvent(message_id="m", role="assistant", agent="coder", text=text, kind="text")
        journal.publish("t_1", delta)
    await journal.append("t_1", [MessageEvent(message_id="m", role="assistant", agent="coder", text="half a sentence")])
    await journal.append("t_1", [COMPLETED])
    async with asyncio.timeout(SECONDS):
        seen = list(await first)
        async for batch in tail:
            seen += batch
    order = [event.seq for event in seen]
    assert [seq for seq in order if seq is not None] == [1, 2, 3]
    assert None not in order[order.index(2) :]


def delta(message: str, text: str, kind: Literal["text", "thinking"] = "text") -> DeltaEvent:
    return DeltaEvent(message_id=message, role="assistant", agent="coder", text=text, kind=kind)


async def test_a_reader_who_comes_in_the_middle_gets_all_that_was_said_so_far_and_then_the_rest(
    journal: Journal,
) -> None:
    await journal.create(new_task("t_1"))
    for word in (delta("m", "Hm.", "thinking"), delta("m", "half "), delta("n", "another"), delta("m", "a ")):
        journal.publish("t_1", word)
    journal.publish("t_1", ToolOutputEvent(call_id="c", stream="stdout", text="1\n"))
    tail = journal.tail("t_1", after=1)
    async with asyncio.timeout(SECONDS):
        so_far = [json.loads(event.data) for event in await anext(tail)]
        waiting = asyncio.ensure_future(anext(tail))
        await loop_turns()
        journal.publish("t_1", delta("m", "sentence"))
        (more,) = await waiting
    assert {(word.get("messageId", "c"), word.get("kind")): word["text"] for word in so_far} == {
        ("m", "thinking"): "Hm.",
        ("m", "text"): "half a ",
        ("n", "text"): "another",
        ("c", None): "1\n",
    }
    assert all(word["whole"] and "seq" not in word for word in so_far)
    assert json.loads(more.data)["text"] == "sentence"
    assert "whole" not in json.loads(more.data)
    await tail.aclose()


async def test_what_is_said_live_keeps_its_place_among_what_is_stored(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    tail = journal.tail("t_1")
    await anext(tail)
    watching = asyncio.ensure_future(anext(tail))
    await loop_turns()
    for number in range(20):
        journal.append("t_1", [StatusEvent(status=Status.RUNNING)])
        journal.publish("t_1", delta(f"m{number}", "words"))
        journal.append("t_1", [MessageEvent(message_id=f"m{number}", role="assistant", agent="coder", text="words")])
    journal.append("t_1", [COMPLETED])
    async with asyncio.timeout(SECONDS):
        seen = [json.loads(event.data) for event in await watching]
        async for batch in tail:
            seen += [json.loads(event.data) for event in batch]
    stored = [event for event in seen if event["type"] != "delta"]
    assert [event["type"] for event in stored] == ["status", "message"] * 20 + ["status"]
    for live, following in pairwise(seen):
        assert live["type"] != "delta" or (following["type"], following["messageId"]) == ("message", live["messageId"])
    if not isinstance(journal, PostgresJournal):  # there a reader may read a message before it hears its words
        assert len(seen) == len(stored) + 20


async def test_what_is_said_behind_something_that_is_refused_is_shown_all_the_same(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    tail = journal.tail("t_1")
    await anext(tail)
    watching = asyncio.ensure_future(anext(tail))
    await loop_turns()
    refused = journal.append("t_1", [COMPLETED], when=frozenset({Status.WAITING}))
    journal.publish("t_1", delta("m", "words"))
    async with asyncio.timeout(SECONDS):
        with pytest.raises(WrongStatus):
            await refused
        (seen,) = await watching
    assert json.loads(seen.data)["text"] == "words"
    await tail.aclose()


async def test_whoever_comes_while_a_message_is_being_stored_gets_none_of_its_words_after_it(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    for number in range(30):
        journal.publish("t_1", delta(f"m{number}", "words"))
        journal.append("t_1", [MessageEvent(message_id=f"m{number}", role="assistant", agent="coder", text="words")])
        tail = journal.tail("t_1", after=number + 1)
        seen: list[dict[str, str]] = []
        async with asyncio.timeout(SECONDS):
            while "message" not in [event["type"] for event in seen]:
                seen += [json.loads(event.data) for event in await anext(tail)]
            journal.publish("t_1", delta("end", "of it"))
            while seen[-1].get("messageId") != "end":
                seen += [json.loads(event.data) for event in await anext(tail)]
        await tail.aclose()
        told = [(event["type"], event["messageId"]) for event in seen]
        assert ("delta", f"m{number}") not in told[told.index(("message", f"m{number}")) :]


@pytest.mark.parametrize(
    "end",
    [
        MessageEvent(message_id="m", role="assistant", agent="coder", text="half a sentence"),
        RetryEvent(attempt=2, of=3, hints=[], error="cut"),
        StatusEvent(status=Status.INTERRUPTED),
    ],
    ids=lambda event: event.type,
)
async def test_what_is_stored_or_over_is_not_reported_again_as_live(journal: Journal, end: Event) -> None:
    await journal.create(new_task("t_1"))
    journal.publish("t_1", delta("m", "half a "))
    await journal.append("t_1", [end])
    tail = journal.tail("t_1", after=2)
    waiting = asyncio.ensure_future(anext(tail))
    await journal.append("t_1", [step(1)])
    async with asyncio.timeout(SECONDS):
        (seen,) = await waiting
    assert seen.seq == 3
    await tail.aclose()


async def test_an_event_is_stored_before_it_is_seen(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    events: list[Event] = [step(number) for number in range(1, 100)]
    for event in events:
        journal.append("t_1", [event])
    tail = journal.tail("t_1", after=1)
    async with asyncio.timeout(SECONDS):
        seen = [event.seq for event in await anext(tail)]
    stored = await seqs(journal, "t_1")
    assert set(seen) <= set(stored)
    await tail.aclose()
