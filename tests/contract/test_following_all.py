"""A reader of all tasks gets every durable event once, in one order that outlives restarts."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from sidecar.journal import tail
from sidecar.journal.errors import CursorLost
from sidecar.journal.port import Journal, Retention
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import DeltaEvent
from tests.contract.journals import COMPLETED, new_task, step
from tests.waiting import SECONDS, until_true

Place = tuple[str, int | None]


async def read_all(journal: Journal, after: int | None, until: Place) -> list[tuple[int, Place]]:
    seen: list[tuple[int, Place]] = []
    async with asyncio.timeout(SECONDS), aclosing(journal.tail_all(after)) as batches:
        async for batch in batches:
            seen += [(event.cursor, (event.task_id, event.seq)) for event in batch]
            if seen[-1][1] == until:
                break
    return seen


async def test_events_of_all_tasks_come_in_the_order_in_which_they_were_written(journal: Journal) -> None:
    reader = asyncio.create_task(read_all(journal, 0, ("t_1", 3)))
    await journal.create(new_task("t_1"))
    await journal.create(new_task("t_2"))
    await journal.append("t_2", [step(1)])
    await journal.append("t_1", [step(1), COMPLETED])
    seen = await reader
    assert [place for _, place in seen] == [("t_1", 1), ("t_2", 1), ("t_2", 2), ("t_1", 2), ("t_1", 3)]
    assert [cursor for cursor, _ in seen] == [1, 2, 3, 4, 5]


async def test_readers_from_any_cursor_see_no_gap_and_no_repeat_while_it_is_written(journal: Journal) -> None:
    for name in ("t_1", "t_2", "t_3"):
        await journal.create(new_task(name))
    readers = [asyncio.create_task(read_all(journal, after, ("t_3", 41))) for after in range(3)]
    for number in range(1, 41):
        await asyncio.gather(*(journal.append(name, [step(number)]) for name in ("t_1", "t_2", "t_3")))
        readers += [asyncio.create_task(read_all(journal, number * 3, ("t_3", 41)))] if number % 9 == 0 else []
    whole = await read_all(journal, 0, ("t_3", 41))
    assert [cursor for cursor, _ in whole] == list(range(1, 124))
    for seen in await asyncio.gather(*readers):
        assert seen == whole[-len(seen) :]


async def test_a_reader_from_now_on_sees_only_what_is_new(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    async with asyncio.timeout(SECONDS), aclosing(journal.tail_all(None)) as batches:
        coming = asyncio.ensure_future(anext(batches))
        await until_true(lambda: journal.followed("t_1"))
        written = 1
        while not coming.done():  # it reads where the end is before it waits
            await journal.append("t_1", [step(written)])
            written += 1
            await asyncio.wait([coming], timeout=0.05)
        assert 1 not in [event.seq for event in coming.result()]


async def test_live_events_are_not_among_them(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    reader = asyncio.create_task(read_all(journal, 0, ("t_1", 2)))
    await until_true(lambda: journal.followed("t_1"))
    journal.publish("t_1", DeltaEvent(message_id="m", role="assistant", agent="coder", text="t", kind="text"))
    await journal.append("t_1", [step(1)])
    assert [place for _, place in await reader] == [("t_1", 1), ("t_1", 2)]


async def test_a_slow_reader_loses_nothing(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "LIVE_LIMIT", 8)
    await journal.create(new_task("t_1"))
    seen: list[int] = []
    async with asyncio.timeout(SECONDS), aclosing(journal.tail_all(0)) as batches:
        seen += [event.cursor for event in await anext(batches)]
        for number in range(1, 60):
            await journal.append("t_1", [step(number)])
        while seen[-1] < 60:
            seen += [event.cursor for event in await anext(batches)]
    assert seen == list(range(1, 61))


async def test_a_cursor_before_what_was_pruned_is_lost_and_the_beginning_is_what_is_kept(
    open_journal: Callable[[Retention], Awaitable[Journal]],
) -> None:
    journal = await open_journal(Retention(days=-1))
    await journal.create(new_task("t_1"))
    await journal.create(new_task("t_2"))
    await journal.append("t_1", [COMPLETED])
    assert await journal.prune() == 1
    with pytest.raises(CursorLost):
        await journal.all_events(1)
    assert [event.cursor for event in (await journal.all_events(0)).events] == [2]
    assert (await journal.all_events(3)).events == []
    await journal.append("t_2", [COMPLETED])
    assert [event.cursor for event in (await journal.all_events(3)).events] == [4]


async def test_a_cursor_that_the_journal_never_reached_is_lost_too(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    with pytest.raises(CursorLost):
        await journal.all_events(2)


async def test_no_cursor_is_given_again_after_a_restart(tmp_path: Path) -> None:
    journal = await SqliteJournal.open(tmp_path / "journal.db", Retention(days=-1))
    await journal.create(new_task("t_1"))
    await journal.append("t_1", [COMPLETED])
    await journal.prune()
    await journal.close()
    journal = await SqliteJournal.open(tmp_path / "journal.db")
    try:
        await journal.create(new_task("t_2"))
        assert [event.cursor for event in (await journal.all_events(2)).events] == [3]
    finally:
        await journal.close()
