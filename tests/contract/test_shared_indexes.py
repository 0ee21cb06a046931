"""Indexes of remotes in a fleet's database: begun with, never trusted, bounded, and without what isn't for them."""

import asyncio
import os
import secrets
import sqlite3
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.memory import shared_indexes
from sidecar.memory.local import LocalMemory
from sidecar.memory.port import SearchRequest
from sidecar.memory.shared_indexes import SharedIndexes
from sidecar.memory.store import get_meta, is_whole, open_store, set_meta
from tests.support.servers import Postgres
from tests.waiting import SECONDS

FILES = {
    "tax.py": "def with_tax(amount: float) -> float:\n    return amount * 1.19\n",
    "cart.py": "from tax import with_tax\n\n\ndef checkout() -> float:\n    return with_tax(1)\n",
    ".env": "TOKEN=planted-secret-of-the-cart\n",
}
ROWS = "SELECT path, id FROM files ORDER BY path"


class Machine:
    def __init__(self, folder: Path, journal: PostgresJournal, origin: str | None = "example.com:shop") -> None:
        self.clone, self.data = folder / "clone", folder / "data"
        self.clone.mkdir(parents=True)
        for name, text in FILES.items():
            (self.clone / name).write_text(text)
        indexes = SharedIndexes(journal, lambda directory: origin)
        self.memory = LocalMemory(self.data, "off", shared=indexes)

    async def find(self, query: str = "with tax", *, share: bool = True) -> list[str]:
        found = await self.memory.search(str(self.clone), SearchRequest(query), SECONDS)
        assert found.state == "ready"
        if share:
            await self.memory.shared(str(self.clone))
        return sorted({hit.path for hit in found.hits})

    def ask(self, query: str) -> list[tuple[object, ...]]:
        (path,) = (self.data / "memory").glob("*.db")
        store = open_store(path, readonly=True)
        try:
            return store.execute(query).fetchall()
        finally:
            store.close()


@pytest.fixture
async def journal(postgres: Postgres) -> AsyncIterator[PostgresJournal]:
    opened = await PostgresJournal.open(postgres.url, schema=f"test_{secrets.token_hex(6)}")
    yield opened
    await opened.close()


async def uploads(journal: PostgresJournal) -> list[tuple[str, str]]:
    found = await journal.query("SELECT repository, upload FROM code_indexes ORDER BY at")
    parts = await journal.query("SELECT DISTINCT upload FROM code_index_parts")
    assert sorted(row[1] for row in found) == sorted(row[0] for row in parts)
    return [tuple(row) for row in found]  # type: ignore[misc]


async def planted(journal: PostgresJournal, data: bytes) -> None:
    """Another process of the fleet replaced the index by this."""
    await journal.query("UPDATE code_index_parts SET data = %s RETURNING true", (data,))


async def file_of(journal: PostgresJournal) -> bytes:
    rows = await journal.query("SELECT data FROM code_index_parts ORDER BY number")
    return b"".join(zlib.decompress(row[0]) for row in rows)


async def test_a_second_worker_begins_with_the_index_of_the_first_and_takes_in_what_differs(
    journal: PostgresJournal, tmp_path: Path
) -> None:
    first, second = Machine(tmp_path / "1", journal), Machine(tmp_path / "2", journal)
    assert await first.find() == ["cart.py", "tax.py"]
    (second.clone / "tax.py").write_text("def levy(amount: float) -> float:\n    return amount\n")
    assert await second.find("levy") == ["tax.py"]
    (same, changed) = second.ask(ROWS)
    assert same in first.ask(ROWS) and changed not in first.ask(ROWS)
    assert await uploads(journal) != []
    for machine in (first, second):
        await machine.memory.close()


async def test_the_answers_are_those_of_an_index_that_was_built_here(journal: PostgresJournal, tmp_path: Path) -> None:
    first, second = Machine(tmp_path / "1", journal), Machine(tmp_path / "2", journal)
    alone = Machine(tmp_path / "3", journal, None)
    await first.find()
    answers = []
    for machine in (second, alone):
        found = await machine.memory.search(str(machine.clone), SearchRequest("tax of the cart"), SECONDS)
        answers.append(found)
        await machine.memory.close()
    assert answers[0] == answers[1] and answers[0].hits
    await first.memory.close()


async def test_an_index_holds_no_secret_and_only_remotes_share_theirs(journal: PostgresJournal, tmp_path: Path) -> None:
    for number, origin in enumerate((None, "/home/me/shop")):
        machine = Machine(tmp_path / str(number), journal, origin)
        await machine.find()
        assert await uploads(journal) == []
        await machine.memory.close()
    machine = Machine(tmp_path / "remote", journal)
    await machine.find()
    await machine.memory.close()
    assert b"checkout" in await file_of(journal)
    assert b"planted" not in await file_of(journal)


async def test_the_same_files_are_shared_once_and_a_rebuilt_index_replaces_the_shared_one(
    journal: PostgresJournal, tmp_path: Path
) -> None:
    first, second = Machine(tmp_path / "1", journal), Machine(tmp_path / "2", journal)
    await first.find()
    before = await uploads(journal)
    await second.find()
    assert await uploads(journal) == before
    await second.memory.rebuild(str(second.clone))
    await second.find()
    ((name, upload),) = await uploads(journal)
    assert [(name, upload)] != before and name == "example.com:shop"
    for machine in (first, second):
        await machine.memory.close()


async def test_the_oldest_indexes_go_when_there_are_too_many_bytes(
    journal: PostgresJournal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        if name == "c":
            (size,) = (await journal.query("SELECT max(bytes) FROM code_indexes"))[0]
            monkeypatch.setattr(shared_indexes, "KEPT_BYTES", size * 5 // 2)
        machine = Machine(tmp_path / name, journal, f"example.com:{name}")
        await machine.find()
        await machine.memory.close()
    kept = await journal.query("SELECT repository FROM code_indexes ORDER BY repository")
    assert [row[0] for row in kept] == ["example.com:b", "example.com:c"]


@pytest.mark.parametrize("kind", ["trigger", "view", "text", "cut", "bomb", "no zlib", "gone", "version"])
async def test_a_hostile_or_damaged_index_is_not_used(journal: PostgresJournal, tmp_path: Path, kind: str) -> None:
    first, second = Machine(tmp_path / "1", journal), Machine(tmp_path / "2", journal)
    await first.find()
    await first.memory.close()
    copy = tmp_path / "copy.db"
    copy.write_bytes(await file_of(journal))
    store = sqlite3.connect(copy)
    store.execute("UPDATE files SET path = '../../outside.py' WHERE path = 'tax.py'")
    if kind == "trigger":
        store.execute("CREATE TRIGGER planted AFTER UPDATE ON meta BEGIN DELETE FROM files; END")
    elif kind == "view":
        store.execute("DROP VIEW chunks")
        store.execute("CREATE VIEW chunks AS SELECT 1 AS id FROM definitions")
    elif kind == "version":
        store.execute("PRAGMA user_version=99")
    store.commit()
    store.close()
    data = {
        "text": zlib.compress(b"this is no database" * 1_000),
        "cut": zlib.compress(copy.read_bytes()[:20_000]),
        "bomb": zlib.compress(bytes(64 << 20)),
        "no zlib": b"x" * 100,
    }.get(kind, zlib.compress(copy.read_bytes()))
    await planted(journal, data)
    if kind == "gone":
        await journal.query("DELETE FROM code_index_parts RETURNING true")
    assert await second.find(share=False) == ["cart.py", "tax.py"]
    assert sorted(os.listdir(second.data / "memory"))[0].endswith(".db")  # noqa: PTH208
    assert not [name for name in os.listdir(second.data / "memory") if ".part" in name]  # noqa: PTH208
    assert [row[0] for row in second.ask(ROWS)] == ["cart.py", "tax.py"]
    await second.memory.close()


async def test_a_planted_index_shows_nothing_that_the_clone_does_not_hold(
    journal: PostgresJournal, tmp_path: Path
) -> None:
    first, second = Machine(tmp_path / "1", journal), Machine(tmp_path / "2", journal)
    await first.find()
    await first.memory.close()
    copy = tmp_path / "copy.db"
    copy.write_bytes(await file_of(journal))
    store = sqlite3.connect(copy)
    store.execute("UPDATE files SET path = '/etc/passwd' WHERE path = 'tax.py'")
    store.commit()
    store.close()
    await planted(journal, zlib.compress(copy.read_bytes()))
    assert await second.find() == ["cart.py", "tax.py"]
    assert [row[0] for row in second.ask(ROWS)] == ["cart.py", "tax.py"]
    await second.memory.close()


async def test_without_the_database_an_index_is_built_here(journal: PostgresJournal, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "1", journal)
    await journal.close()
    async with asyncio.timeout(SECONDS):
        assert await machine.find() == ["cart.py", "tax.py"]
    assert get_meta(sqlite3.connect(next((machine.data / "memory").glob("*.db"))), "state") == "ready"
    await machine.memory.close()


def test_a_damaged_page_of_an_index_is_noticed(tmp_path: Path) -> None:
    store = open_store(tmp_path / "index.db")
    for number in range(200):
        set_meta(store, f"key {number}", "x" * 60)
    assert is_whole(store)
    (page,) = store.execute("SELECT rootpage FROM sqlite_master WHERE name = 'meta'").fetchone()
    (size,) = store.execute("PRAGMA page_size").fetchone()
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    data = bytearray((tmp_path / "index.db").read_bytes())
    data[(page - 1) * size : (page - 1) * size + 8] = b"\xff" * 8
    (tmp_path / "damaged.db").write_bytes(data)
    damaged = open_store(tmp_path / "damaged.db", readonly=True)
    assert not is_whole(damaged)
    damaged.close()
