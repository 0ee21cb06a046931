"""What every journal promises about old tasks: lists, labels, search, deletion."""

from pathlib import Path
from typing import Any

import pytest

from sidecar.journal.errors import UnknownTask, WrongStatus
from sidecar.journal.port import Journal, Record, TaskFilter
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import (
    ChangedFile,
    DiffEvent,
    LabelEvent,
)
from sidecar.wire.tasks import Status
from tests.contract.journals import (
    COMPLETED,
    RUNNING,
    new_task,
    said,
)


async def names(journal: Journal, limit: int = 50, before: str | None = None, **wanted: Any) -> list[str]:
    return [task.id for task in await journal.tasks(TaskFilter(**wanted), limit=limit, before=before)]


async def test_a_task_is_found_by_what_was_asked_answered_and_changed(journal: Journal) -> None:
    for name in ("t_1", "t_2", "t_3"):
        await journal.create(new_task(name))
    await journal.append("t_1", [said("Rename the parser"), said("Renamed it in three places")])
    changed = ChangedFile(path="src/Lexer/tokens_test.py", change="modified", added=1, removed=0)
    await journal.append("t_2", [said("Fix the naïve parser"), DiffEvent(files=[changed])])
    assert await names(journal, words="parser") == ["t_2", "t_1"]
    assert await names(journal, words="PARS three") == ["t_1"]
    assert await names(journal, words="lexer/tokens") == await names(journal, words="tokens_test.py") == ["t_2"]
    assert await names(journal, words="naive") == ["t_2"]
    assert await names(journal, words="arser") == await names(journal, words="nothing") == []
    assert await names(journal, words="parser", limit=1, before="t_2") == ["t_1"]
    assert await names(journal, words="nothing three lexer/tokens", any_word=True) == ["t_2", "t_1"]
    assert await names(journal, words="nothing thr", any_word=True) == ["t_1"]
    assert await names(journal, words="nothing", any_word=True) == await names(journal, words="?", any_word=True) == []
    await journal.append("t_3", [said("a parser, later")])
    assert await names(journal, words="parser", statuses=[Status.QUEUED]) == ["t_3", "t_2", "t_1"]


@pytest.mark.parametrize(
    "words",
    ['"', "'", "*", "a\0b", "NEAR(", "(x OR", "text:", "^", "-", "{a b}", "😀", "a" * 5_000, "w " * 5_000, 'x" OR "do'],
)
async def test_any_text_can_be_searched_for(journal: Journal, words: str) -> None:
    await journal.create(new_task("t_1"))
    await journal.append("t_1", [said("do this")])
    assert await names(journal, words=words) == []
    assert await names(journal, words=words, any_word=True) == (["t_1"] if words.endswith("do") else [])


async def test_a_label_renames_pins_and_archives(journal: Journal) -> None:
    for name in ("t_1", "t_2"):
        await journal.create(new_task(name))
    task = await journal.task("t_1")
    assert (task.title, task.pinned, task.archived) == ("do t_1", False, False)
    await journal.append("t_1", [LabelEvent(title="Zebra", pinned=True)])
    await journal.append("t_1", [LabelEvent(archived=True)])
    task = await journal.task("t_1")
    assert (task.title, task.pinned, task.archived) == ("Zebra", True, True)
    assert await names(journal, pinned=True) == await names(journal, archived=True) == ["t_1"]
    assert await names(journal, archived=False) == ["t_2"]
    assert await names(journal, words="zebra") == ["t_1"]
    await journal.append("t_1", [LabelEvent(pinned=False, archived=False)])
    assert await names(journal, archived=False) == ["t_2", "t_1"]


async def test_tasks_are_listed_by_workspace(journal: Journal) -> None:
    await journal.create(new_task("t_1"))
    assert await names(journal, workspaces=["/w", "/"]) == ["t_1"]
    assert await names(journal, workspaces=["/wide"]) == []


async def test_a_deleted_task_leaves_nothing_and_a_running_one_stays(journal: Journal) -> None:
    for name in ("t_1", "t_2"):
        await journal.create(new_task(name, key=name))
        await journal.append(name, [RUNNING, said("parser")], [Record("step", "a", "1")])
    digest = await journal.put_blob("t_1", b"content")
    with pytest.raises(WrongStatus):
        await journal.delete("t_1")
    await journal.append("t_1", [COMPLETED])
    assert await names(journal, words="parser") == ["t_2", "t_1"]
    await journal.delete("t_1")
    assert await names(journal) == await names(journal, words="parser") == ["t_2"]
    assert await journal.blob(digest) is None
    for asking in (journal.task("t_1"), journal.events("t_1"), journal.delete("t_1")):
        with pytest.raises(UnknownTask):
            await asking


async def test_a_damaged_or_foreign_index_of_words_is_built_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = await SqliteJournal.open(path)
    await journal.create(new_task("t_1"))
    await journal.append("t_1", [said("parser")])
    assert await names(journal, words="parser") == ["t_1"]
    await journal.close()
    index = tmp_path / "words.db"
    assert index.stat().st_mode & 0o777 == 0o600
    good = index.read_bytes()
    for damaged in (b"no database", good[:4096] + bytes(len(good) - 4096), b""):
        index.write_bytes(damaged)
        journal = await SqliteJournal.open(path)
        assert await names(journal, words="parser") == ["t_1"]
        await journal.close()
    # Another journal in the same place: the old words must not point to its tasks.
    for part in ("journal.db", "journal.db-wal", "journal.db-shm", "journal.db-commits"):
        (tmp_path / part).unlink(missing_ok=True)
    journal = await SqliteJournal.open(path)
    await journal.create(new_task("t_2"))
    await journal.append("t_2", [said("lexer"), said("more")])
    assert await names(journal, words="parser") == []
    assert await names(journal, words="lexer") == ["t_2"]
    await journal.close()


async def test_the_words_of_a_deleted_task_are_gone_from_the_disk(tmp_path: Path) -> None:
    journal = await SqliteJournal.open(tmp_path / "journal.db")
    for name, text in (("t_1", "confidential quarterly"), ("t_2", "other")):
        await journal.create(new_task(name))
        await journal.append(name, [said(text), COMPLETED])
    assert await names(journal, words="confidential") == ["t_1"]
    await journal.delete("t_1")
    await journal.close()
    for file in tmp_path.iterdir():
        assert b"confidential" not in file.read_bytes(), file
