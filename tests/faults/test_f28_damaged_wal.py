"""F28: the write-ahead log is damaged, cut or gone after a kill. What is lost is named; nothing done runs again."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.journal.port import NewTask
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import ErrorEvent, StatusEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest
from tests.e2e.support import running_sidecar
from tests.faults.scale import scaled

TASKS = 12
FLIPS = scaled(15, 400)
_PARTS = ("", "-wal", "-commits")


def new_task(name: str) -> NewTask:
    request = StoredRequest(task="x", workspace="/w", conversation_id="c", context=Context(), options=Options())
    return NewTask(name, request, [StatusEvent(status=Status.QUEUED)])


@pytest.fixture
async def killed(tmp_path: Path) -> Path:
    """The files of a journal whose process was killed: nothing was copied into the main file."""
    path = tmp_path / "live" / "journal.db"
    path.parent.mkdir()
    journal = await SqliteJournal.open(path)
    for number in range(TASKS):
        await journal.create(new_task(f"t_{number}"))
        await journal.append(
            f"t_{number}",
            [ErrorEvent(code="x", message="m" * 3_000, recoverable=True), StatusEvent(status=Status.COMPLETED)],
        )
    left = tmp_path / "killed" / "journal.db"
    left.parent.mkdir()
    for part in _PARTS:
        shutil.copyfile(f"{path}{part}", f"{left}{part}")
    await journal.close()
    return left


async def reopen(killed: Path, directory: Path, damage: Callable[[Path], None]) -> tuple[dict[str, Status], list[str]]:
    """The tasks with their statuses after that damage, and what the journal says of it."""
    directory.mkdir()
    path = directory / "journal.db"
    for part in _PARTS:
        shutil.copyfile(f"{killed}{part}", f"{path}{part}")
    damage(Path(f"{path}-wal"))
    journal = await SqliteJournal.open(path)
    try:
        found = await journal.tasks(limit=100)
        for task in found:
            page = await journal.events(task.id)
            assert [event.seq for event in page.events] == list(range(1, task.last_seq + 1))
        messages = journal.state().set_aside
    finally:
        await journal.close()
    again = await SqliteJournal.open(path)
    assert again.state().set_aside == [], "the damage is reported once"
    await again.close()
    return {task.id: task.status for task in found}, messages


def check(statuses: dict[str, Status], messages: list[str]) -> None:
    told = " ".join(messages)
    for number in range(TASKS):
        status = statuses.get(f"t_{number}")
        assert status in (Status.COMPLETED, Status.FAILED) or (status is None and f"t_{number}" in told), told
        if status is Status.FAILED:
            assert f"t_{number}" in told


async def test_f28_an_undamaged_log_is_taken_up_silently(killed: Path, tmp_path: Path) -> None:
    statuses, messages = await reopen(killed, tmp_path / "whole", lambda wal: None)
    assert len(statuses) == TASKS and messages == []


async def test_f28_one_flipped_bit_loses_at_most_what_is_on_its_page(killed: Path, tmp_path: Path) -> None:
    chance, kept = random.Random(28), 0
    for number in range(FLIPS):

        def flip(wal: Path) -> None:
            data = bytearray(wal.read_bytes())
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            wal.write_bytes(data)

        statuses, messages = await reopen(killed, tmp_path / f"flip{number}", flip)
        check(statuses, messages)
        kept += sum(status is Status.COMPLETED for status in statuses.values())
    assert kept >= 0.8 * FLIPS * TASKS, "a single bit cost too much"


async def test_f28_a_log_cut_anywhere_names_what_is_lost(killed: Path, tmp_path: Path) -> None:
    size = Path(f"{killed}-wal").stat().st_size
    for number in range(10):

        def cut(wal: Path, length: int = size * number // 10) -> None:
            wal.write_bytes(wal.read_bytes()[:length])

        statuses, messages = await reopen(killed, tmp_path / f"cut{number}", cut)
        check(statuses, messages)
        assert messages, f"cut at {number}/10 was not noticed"


async def test_f28_a_log_that_is_gone_names_what_is_lost(killed: Path, tmp_path: Path) -> None:
    statuses, messages = await reopen(killed, tmp_path / "gone", Path.unlink)
    check(statuses, messages)
    assert messages


def test_f28_the_process_runs_no_completed_task_again(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        tasks = [sidecar.execute(f"list the files in {number}") for number in range(3)]
        for task in tasks:
            sidecar.wait_for_end(task)
        sidecar.kill()
        wal = sidecar.data_dir / "journal.db-wal"
        data = bytearray(wal.read_bytes())
        data[len(data) // 3] ^= 4
        wal.write_bytes(data)
        sidecar.start()
        for task in tasks:
            answer = sidecar.get(f"/api/brain/tasks/{task}")
            assert answer.status == 404 or answer.json["status"] in ("completed", "failed")
