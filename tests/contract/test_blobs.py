"""Contents in the journal: byte for byte, small where they resemble each other, and never lost by another's going."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.journal.delta import apply_difference, difference
from sidecar.journal.port import Journal, Retention
from sidecar.journal.sqlite import SqliteJournal
from tests.contract.journals import COMPLETED, new_task, postgres_journal
from tools.ledger import digest

LINES = [f"line {number} of a file that is long enough to be worth it\n".encode() for number in range(400)]
TEXT = st.lists(st.sampled_from([b"a\n", b"bb\n", b"a long line that comes again\n", b"c", b"\r\n"]), max_size=40)


@pytest.fixture(params=["sqlite", "postgres"])
async def small(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Journal]:
    retention = Retention(task_bytes=10_000)
    journal: Journal = (
        await postgres_journal(request, retention)
        if request.param == "postgres"
        else await SqliteJournal.open(tmp_path / "journal.db", retention)
    )
    yield journal
    await journal.close()


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    opened = await SqliteJournal.open(tmp_path / "journal.db")
    yield opened
    await opened.close()


def versions(count: int) -> list[bytes]:
    lines, made = list(LINES), []
    for number in range(count):
        lines[(number * 7) % len(lines)] = f"edited for the {number}th time\n".encode()
        lines[(number * 31) % len(lines)] = f"and here too: {number}\n".encode()
        made.append(b"".join(lines))
    return made


async def put_all(journal: Journal, task: str, contents: list[bytes]) -> list[str]:
    names: list[str] = []
    for content in contents:
        names.append(await journal.put_blob(task, content, names[-1] if names else None))
    return names


@given(TEXT, TEXT)
def test_a_difference_restores_what_it_was_made_of(old: list[bytes], new: list[bytes]) -> None:
    base, data = b"".join(old), b"".join(new)
    pieces = difference(base, data)
    assert pieces is None or apply_difference(base, pieces) == data


@given(st.lists(st.binary(max_size=8), min_size=50, max_size=100), st.data())
def test_a_few_changes_are_a_small_difference(parts: list[bytes], data: st.DataObject) -> None:
    lines = [b"%d: %s\n" % (number, part.replace(b"\n", b"")) for number, part in enumerate(parts)]
    base = b"".join(lines * 4)
    place = data.draw(st.integers(0, len(base) - 1))
    changed = base[:place] + b"!" + base[place + 1 :]
    pieces = difference(base, changed)
    assert pieces is not None and len(pieces) < 64
    assert apply_difference(base, pieces) == changed


async def test_a_hundred_versions_of_a_file_take_little_more_than_one(journal: SqliteJournal, tmp_path: Path) -> None:
    await journal.create(new_task("t_1"))
    contents = versions(100)
    names = await put_all(journal, "t_1", contents)
    assert [await journal.blob(name) for name in names] == contents
    with sqlite3.connect(tmp_path / "journal.db") as connection:
        (taken,) = connection.execute("SELECT sum(length(data)) FROM blobs").fetchone()
    connection.close()
    assert taken < 2 * len(contents[0])


async def test_what_a_kept_content_is_a_difference_to_stays_when_its_own_task_goes(tmp_path: Path) -> None:
    journal = await SqliteJournal.open(tmp_path / "journal.db", Retention(bytes=1))
    contents = versions(10)
    await journal.create(new_task("t_1"))
    names = await put_all(journal, "t_1", contents)
    await journal.append("t_1", [COMPLETED])
    await journal.create(new_task("t_2"))
    await journal.put_blob("t_2", contents[7])
    assert await journal.prune() == 1
    assert await journal.blob(names[7]) == contents[7]
    assert await journal.blob(names[8]) is None
    await journal.close()


async def test_a_content_that_the_disk_has_changed_is_none(journal: SqliteJournal, tmp_path: Path) -> None:
    await journal.create(new_task("t_1"))
    one, two = await put_all(journal, "t_1", versions(2))
    with sqlite3.connect(tmp_path / "journal.db") as connection:
        connection.execute("UPDATE blobs SET data = x'789c03000000000001' WHERE digest = ?", (one,))
    connection.close()
    assert await journal.blob(one) is None
    assert await journal.blob(two) is None


async def test_a_task_keeps_no_more_than_its_cap_and_others_are_not_touched_by_it(small: Journal) -> None:
    import random

    source = random.Random(7)
    await small.create(new_task("t_1"))
    await small.create(new_task("t_2"))
    contents = [source.randbytes(6_000) for _ in range(4)]
    names = [await small.put_blob("t_1", content) for content in contents]
    assert names == [digest(content) for content in contents]
    assert [await small.blob(name) is not None for name in names] == [True, True, False, False]
    await small.put_blob("t_2", contents[3])
    assert await small.blob(names[3]) == contents[3]
