"""F34: the index is killed while it builds and files change meanwhile: it is consistent, and no hit is stale."""

import os
import random
import signal
import sqlite3
from array import array
from contextlib import closing
from pathlib import Path

import pytest

from sidecar.memory.builder import refresh
from sidecar.memory.local import LocalMemory
from sidecar.memory.port import SearchRequest
from sidecar.memory.postings import FILE_SHIFT, HISTORY
from sidecar.memory.store import open_store
from tests.faults.scale import scaled
from tests.waiting import SECONDS, until_true

FILES = 300
KILLS = scaled(6, 60)


def write_file(workspace: Path, number: int, version: int) -> None:
    called = f"call_{version}({number})"
    text = f"def walrus_{number}_version_{version}():\n    return {called}\n" + "# filler\n" * (version % 5)
    (workspace / f"module_{number}.py").write_text(text * 3)


def builder_of(memory: LocalMemory, workspace: Path) -> int | None:
    process = memory._index(str(workspace))._process
    return process.pid if process is not None else None


async def kill_builder(memory: LocalMemory, workspace: Path, after: float) -> None:
    memory._index(str(workspace)).build(urgent=True)
    await until_true(lambda: builder_of(memory, workspace) is not None)
    pid = builder_of(memory, workspace)
    assert pid is not None
    await memory._index(str(workspace)).wait(after)
    if builder_of(memory, workspace) == pid:
        os.kill(pid, signal.SIGKILL)
    await memory._index(str(workspace)).wait(SECONDS)


def check_consistency(memory: LocalMemory, workspace: Path) -> None:
    path = memory._index(str(workspace)).path
    if not path.exists():
        return
    with closing(sqlite3.connect(path)) as store:
        assert store.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        if store.execute("PRAGMA user_version").fetchone()[0] == 0:
            return  # killed before the first transaction
        for table, column in (("chunks", "file"), ("imports", "file"), ("edges", "source")):
            orphans = f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT id FROM files)"
            assert store.execute(orphans).fetchone()[0] == 0
        # Postings and calls may lead to files that were dropped, but never to one that another version will get.
        last = int(store.execute("SELECT value FROM meta WHERE key = 'next'").fetchone()[0]) if files_of(store) else 0
        assert all(file < 2 * last for file in files_of(store))


def files_of(store: sqlite3.Connection) -> set[int]:
    """The files that postings and calls lead to."""
    found: set[int] = set()
    for (ids,) in store.execute("SELECT ids FROM postings WHERE segment <> ?", (HISTORY,)):
        found.update(chunk >> FILE_SHIFT for chunk in array("I", ids))
    for (places,) in store.execute("SELECT places FROM calls"):
        found.update(chunk >> FILE_SHIFT for chunk in array("I", places)[::2])
    return found


async def check_hits(memory: LocalMemory, workspace: Path, query: str, wait: float) -> int:
    found = await memory.search(str(workspace), SearchRequest(query, 50), wait)
    for hit in found.hits:
        lines = (workspace / hit.path).read_text().split("\n")
        assert hit.snippet.split("\n")[0] == lines[hit.line - 1], hit
    return len(found.hits)


def join(path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what dropped files left removed, as happens when it is much."""
    monkeypatch.setattr("sidecar.memory.postings._SEGMENTS", -1)
    with closing(open_store(path)) as store:
        refresh(store, str(workspace), [file.name for file in workspace.glob("*.py")])
        assert files_of(store) == {row[0] for row in store.execute("SELECT id FROM files")}


@pytest.mark.timeout(1_800)
async def test_a_killed_build_leaves_no_stale_hit_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, chance = tmp_path / "workspace", random.Random(34)
    workspace.mkdir()
    for number in range(FILES):
        write_file(workspace, number, 0)
    memory = LocalMemory(tmp_path / "data", "off")
    try:
        for version in range(1, KILLS + 1):
            await kill_builder(memory, workspace, chance.uniform(0, 1.5))
            check_consistency(memory, workspace)
            for number in chance.sample(range(FILES), 30):
                write_file(workspace, number, version)
            (workspace / f"module_{chance.randrange(FILES)}.py").unlink(missing_ok=True)
            await check_hits(memory, workspace, f"walrus version {version}", wait=0)
        # Undisturbed, it comes to hold exactly what is on the disk.
        await memory._index(str(workspace)).stop()
        assert await check_hits(memory, workspace, "walrus version", wait=SECONDS) > 0
        index = memory._index(str(workspace))
        index.build(urgent=True)
        await index.wait(SECONDS)
        check_consistency(memory, workspace)
        with closing(sqlite3.connect(index.path)) as store:
            indexed = {row[0] for row in store.execute("SELECT path FROM files")}
            symbols = {row[0] for row in store.execute("SELECT symbol FROM chunks WHERE symbol != ''")}
        assert indexed == {path.name for path in workspace.glob("*.py")}
        join(index.path, workspace, monkeypatch)
        written = {path.read_text().partition("(")[0].removeprefix("def ") for path in workspace.glob("*.py")}
        assert symbols == written
    finally:
        await memory.close()


async def test_no_builder_outlives_its_memory(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for number in range(FILES):
        write_file(workspace, number, 0)
    memory = LocalMemory(tmp_path / "data", "off", delay=0)
    memory.start(str(workspace))
    await until_true(lambda: builder_of(memory, workspace) is not None)
    pid = builder_of(memory, workspace)
    assert pid is not None
    await memory.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
