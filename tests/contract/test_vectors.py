"""Static vectors: off unless you turn them on, then one more list that never shows what is gone."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecar.config.weights import VectorsUnavailable, WeightFiles
from sidecar.memory import vectors as module
from sidecar.memory.local import LocalMemory
from sidecar.memory.port import SearchRequest
from sidecar.memory.store import open_or_replace
from sidecar.memory.word_vectors import SIZE, WordVectors
from tests.support.weights import need_weights
from tests.waiting import SECONDS

FILES = {
    "one.py": "def start_automobile(engine):\n    engine.ignite()\n    return engine.motor\n",
    "two.py": "def bake_cake(flour, sugar):\n    return flour + sugar\n",
    "three.py": "def send_email(recipient, subject):\n    recipient.deliver(subject)\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    need_weights()
    place = tmp_path / "workspace"
    place.mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text)
    return place


@pytest.fixture
async def memory(workspace: Path, tmp_path: Path) -> AsyncIterator[LocalMemory]:
    memory = LocalMemory(tmp_path / "data", "off", vectors=True)
    yield memory
    await memory.close()


async def symbols(memory: LocalMemory, workspace: Path, query: str, **more: str) -> list[tuple[str, str]]:
    found = await memory.search(str(workspace), SearchRequest(query, **more), SECONDS)  # type: ignore[arg-type]
    assert found.state == "ready"
    return [(hit.symbol, hit.why) for hit in found.hits]


def rows(tmp_path: Path) -> dict[int, int]:
    """The length of the vectors of each file."""
    (store,) = (tmp_path / "data/memory").glob("*.db")
    with sqlite3.connect(store) as found:
        return dict(found.execute("SELECT file, length(data) FROM vectors").fetchall())


async def test_code_is_found_by_words_that_it_does_not_hold(memory: LocalMemory, workspace: Path) -> None:
    assert ("start_automobile", "alike in meaning") in await symbols(
        memory, workspace, "vehicle motorcycle driving cars"
    )
    assert ("send_email", "alike in meaning") in await symbols(memory, workspace, "mail message")
    assert await symbols(memory, workspace, "mailbox inbox", path="two.py") == []
    state = await memory.state(str(workspace))
    assert state.vectors.startswith("wordllama")


async def test_an_edit_replaces_the_vectors_of_its_file_only(
    memory: LocalMemory, workspace: Path, tmp_path: Path
) -> None:
    await symbols(memory, workspace, "cars")
    before = rows(tmp_path)
    assert len(before) == 3 and all(size % SIZE == 0 and size for size in before.values())
    (workspace / "two.py").write_text("def repair_vehicle(wheels):\n    return wheels\n")
    (workspace / "three.py").unlink()
    memory._index(str(workspace)).update({"two.py", "three.py"})
    assert "repair_vehicle" in dict(await symbols(memory, workspace, "automobile cars garage"))
    assert "send_email" not in dict(await symbols(memory, workspace, "emails letters addressee"))
    after = rows(tmp_path)
    assert len(after) == 2 and len(after.keys() & before.keys()) == 1


async def test_turned_off_nothing_is_stored_and_turned_on_again_what_is_missing_is_added(
    workspace: Path, tmp_path: Path
) -> None:
    for on in (False, True, False, True):
        memory = LocalMemory(tmp_path / "data", "off", vectors=on)
        found = dict(await symbols(memory, workspace, "vehicle motorcycle driving cars"))
        assert ("start_automobile" in found) == on
        assert bool((await memory.state(str(workspace))).vectors) == on
        await memory.close()
        if not on and not (tmp_path / "added").exists():
            (store,) = (tmp_path / "data/memory").glob("*.db")
            with sqlite3.connect(store) as opened:
                assert not opened.execute("SELECT 1 FROM sqlite_master WHERE name = 'vectors'").fetchall()
            (tmp_path / "added").touch()
    assert len(rows(tmp_path)) == 3


def test_turned_off_nothing_is_imported(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from sidecar.memory.local import LocalMemory;"
        "import sidecar.memory.answers, sidecar.memory.builder, sidecar.memory.updates;"
        f"LocalMemory(Path({str(tmp_path)!r})); print([name for name in ('numpy', 'wordllama') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=SECONDS)
    assert done.stdout.strip() == "[]"


def test_vectors_have_a_limit_and_go_on_where_they_stopped(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sidecar.memory.builder import refresh

    store = open_or_replace(tmp_path / "index.db")
    try:
        refresh(store, str(workspace), sorted(FILES))
        monkeypatch.setattr(module, "MAX_CHUNKS", 2)
        module.embed_missing(store, str(workspace))
        assert store.execute("SELECT count(*) FROM vectors").fetchone() == (2,)
        monkeypatch.setattr(module, "MAX_CHUNKS", 10)
        module.embed_missing(store, str(workspace))
        assert store.execute("SELECT count(*) FROM vectors").fetchone() == (3,)
        # Of other weights: all are made again.
        store.execute("UPDATE meta SET value = 'others' WHERE key = 'vectors'")
        store.execute("UPDATE vectors SET data = zeroblob(length(data))")
        module.embed_missing(store, str(workspace))
        assert store.execute("SELECT count(*) FROM vectors WHERE data = zeroblob(length(data))").fetchone() == (0,)
    finally:
        store.close()


@pytest.mark.parametrize("damage", ["empty", "cut", "header", "huge header", "words"])
def test_damaged_weights_are_refused(tmp_path: Path, damage: str) -> None:
    found = need_weights()
    data, words = found.weights.read_bytes(), found.vocabulary.read_bytes()
    wrong = {
        "empty": (b"", words),
        "cut": (data[:100_000], words),
        "header": (b"\x08\0\0\0\0\0\0\0notjson!" + data[100:], words),
        "huge header": (b"\xff" * 8 + data[8:], words),
        "words": (data, json.dumps({"model": []}).encode()),
    }[damage]
    files = WeightFiles("damaged", tmp_path / "weights", tmp_path / "words")
    files.weights.write_bytes(wrong[0])
    files.vocabulary.write_bytes(wrong[1])
    with pytest.raises(VectorsUnavailable):
        WordVectors(files)


def test_a_word_that_the_weights_do_not_know_is_put_together_from_its_pieces() -> None:
    known = WordVectors(need_weights())
    whole, parts = known.embed({"rebuildable": 1.0}), known.embed({"rebuild": 1.0})
    assert whole is not None and parts is not None and float(whole @ parts) > 0.3
    assert known.embed({"the": 1.0}) is None and known.embed({}) is None
