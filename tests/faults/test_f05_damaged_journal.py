"""F5: whatever happened to the journal file, the sidecar starts, sets it aside, and names what was lost."""

import random
import re
from pathlib import Path

import pytest

from sidecar.journal.damage import inspect
from sidecar.journal.port import NewTask
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import ErrorEvent, StatusEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest, Task
from tests.e2e.support import running_sidecar
from tests.faults.scale import scaled

TASKS = 30
#: Of each task.
EVENTS = 22
OFFSETS = scaled(35, 400)
FLIPS = scaled(25, 400)


async def written(path: Path) -> bytes:
    """A journal with some tasks in it, as the bytes of its file."""
    journal = await SqliteJournal.open(path)
    for number in range(TASKS):
        options = StoredRequest(
            task="x" * 200, workspace="/w", conversation_id="c", context=Context(), options=Options()
        )
        await journal.create(NewTask(f"t_{number}", options, [StatusEvent(status=Status.QUEUED)]))
        more = [ErrorEvent(code="x", message="m" * 300, recoverable=True) for _ in range(EVENTS - 2)]
        await journal.append(f"t_{number}", [*more, StatusEvent(status=Status.COMPLETED)])
    await journal.close()
    return path.read_bytes()


async def readable(path: Path) -> tuple[list[Task], list[str]]:
    """The tasks that an opened journal shows, each with its events, and what it says was set aside."""
    journal = await SqliteJournal.open(path)
    try:
        tasks = await journal.tasks(limit=1_000)
        for task in tasks:
            page = await journal.events(task.id)
            assert [event.seq for event in page.events] == list(range(1, task.last_seq + 1))
        await journal.create(_new("t_new"))
        return list(tasks), journal.state().set_aside
    finally:
        await journal.close()


def _new(name: str) -> NewTask:
    request = StoredRequest(task="x", workspace="/w", conversation_id="c", context=Context(), options=Options())
    return NewTask(name, request, [StatusEvent(status=Status.QUEUED)])


@pytest.mark.timeout(600)
async def test_f05_a_journal_cut_anywhere_is_set_aside_and_what_can_be_read_is_kept(tmp_path: Path) -> None:
    whole = await written(tmp_path / "whole.db")
    kept = []
    lengths = [*(len(whole) * number // OFFSETS for number in range(OFFSETS)), len(whole) - 1_000]
    for number, length in enumerate(lengths):
        directory = tmp_path / f"cut{number}"
        directory.mkdir()
        path = directory / "journal.db"
        path.write_bytes(whole[:length])
        tasks, told = await readable(path)
        kept.append(len(tasks))
        assert (directory / "journal.db").exists()
        assert all(task.status is Status.COMPLETED and task.last_seq == EVENTS for task in tasks)
        if number:
            (message,) = told
            assert list(directory.glob("journal-damaged-*.db"))
            lost = {f"t_{each}" for each in range(TASKS)} - {task.id for task in tasks}
            named = set(re.findall(r"t_\d+", message.partition("Lost: ")[2]))
            assert named == lost or "Unreadable tasks are lost" in message
    # What a cut costs depends on its length: half a file holds about half of the tasks.
    assert kept[OFFSETS // 2] > TASKS // 4 and kept[-1] >= TASKS - 3, kept


@pytest.mark.timeout(600)
async def test_f05_flipped_bits_never_stop_the_start_and_never_show_a_gap(tmp_path: Path) -> None:
    whole = await written(tmp_path / "whole.db")
    chance = random.Random(5)
    for number in range(FLIPS):
        directory = tmp_path / f"flip{number}"
        directory.mkdir()
        path = directory / "journal.db"
        spoilt = bytearray(whole)
        for _ in range(chance.choice((1, 1, 8))):
            spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
        path.write_bytes(spoilt)
        await readable(path)


async def test_f05_what_was_lost_is_named(tmp_path: Path) -> None:
    whole = bytearray(await written(tmp_path / "journal.db"))
    middle = len(whole) // 2
    whole[middle : middle + 8_192] = bytes(8_192)
    (tmp_path / "journal.db").write_bytes(whole)
    (message,) = inspect(tmp_path / "journal.db").messages
    assert "set aside as" in message
    assert "Lost: t_" in message or "Unreadable tasks are lost" in message


def test_f05_the_process_starts_on_every_kind_of_damage(tmp_path: Path) -> None:
    def no_database(journal: Path) -> None:
        journal.write_bytes(b"this is not a database" * 1_000)

    def empty(journal: Path) -> None:
        journal.write_bytes(b"")

    def cut(journal: Path) -> None:
        journal.write_bytes(journal.read_bytes()[: journal.stat().st_size // 2])

    def no_wal(journal: Path) -> None:
        Path(f"{journal}-wal").unlink(missing_ok=True)

    def directory_in_its_place(journal: Path) -> None:
        journal.unlink()
        journal.mkdir()

    for damage in (no_database, empty, cut, no_wal, directory_in_its_place):
        with running_sidecar(tmp_path / damage.__name__) as sidecar:
            sidecar.wait_for_end(sidecar.execute("list the files"))
            sidecar.kill()
            damage(sidecar.data_dir / "journal.db")
            for _ in range(2):
                sidecar.start()
                assert sidecar.wait_for_end(sidecar.execute("list the files"))["status"] == "completed"
                sidecar.kill()
            sidecar.start()
