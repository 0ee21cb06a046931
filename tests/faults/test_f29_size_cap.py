"""F29: at the size cap only what must goes: contents for undo before tasks, oldest first, and it says so."""

import logging
import os
from pathlib import Path

import pytest

from sidecar.journal.port import NewTask, Retention
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import MessageEvent, StatusEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest

TASKS = 10
CONTENT = 100_000
MESSAGE = 20_000


async def filled(path: Path, retention: Retention, *, undo: bool) -> SqliteJournal:
    """Ten completed tasks, each with a conversation, and with contents for undo."""
    journal = await SqliteJournal.open(path, retention)
    for number in range(TASKS):
        name = f"t_{number}"
        request = StoredRequest(task="x", workspace="/w", conversation_id="c", context=Context(), options=Options())
        await journal.create(NewTask(name, request, [StatusEvent(status=Status.QUEUED)]))
        if undo:
            await journal.put_blob(name, os.urandom(CONTENT))
        said = MessageEvent(message_id="m", role="user", agent="", text=os.urandom(MESSAGE // 2).hex())
        await journal.append(name, [said, StatusEvent(status=Status.COMPLETED)])
    return journal


async def kept(journal: SqliteJournal) -> list[str]:
    return sorted(task.id for task in await journal.tasks(limit=100))


async def test_f29_contents_for_undo_go_first_and_no_conversation_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journal = await filled(tmp_path / "j.db", Retention(bytes=CONTENT * TASKS // 2), undo=True)
    try:
        with caplog.at_level(logging.INFO):
            assert await journal.prune() == 0
        assert await kept(journal) == [f"t_{number}" for number in range(TASKS)]
        assert "the contents for undo of" in caplog.text
        for number in range(TASKS):
            page = await journal.events(f"t_{number}")
            assert [event.type for event in page.events] == ["status", "message", "status"]
    finally:
        await journal.close()


async def test_f29_only_as_many_tasks_go_as_must_the_oldest_first(tmp_path: Path) -> None:
    journal = await filled(tmp_path / "j.db", Retention(), undo=False)
    await journal.close()
    size = (tmp_path / "j.db").stat().st_size
    journal = await SqliteJournal.open(tmp_path / "j.db", Retention(bytes=size - 2 * MESSAGE))
    try:
        dropped = await journal.prune()
        assert 1 <= dropped <= 5, f"{dropped} of {TASKS} tasks were dropped to free {2 * MESSAGE} bytes"
        assert await kept(journal) == [f"t_{number}" for number in range(dropped, TASKS)]
    finally:
        await journal.close()


async def test_f29_the_file_on_disk_shrinks_to_the_cap(tmp_path: Path) -> None:
    cap = CONTENT * TASKS // 2
    journal = await filled(tmp_path / "j.db", Retention(bytes=cap), undo=True)
    await journal.prune()
    await journal.close()
    assert (tmp_path / "j.db").stat().st_size <= cap


async def test_f29_below_the_cap_nothing_goes(tmp_path: Path) -> None:
    journal = await filled(tmp_path / "j.db", Retention(bytes=100 * CONTENT * TASKS), undo=True)
    try:
        assert await journal.prune() == 0
        assert len(await kept(journal)) == TASKS
    finally:
        await journal.close()
