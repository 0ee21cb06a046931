"""Taking in an edit: the graph stays right whether the imports of a file change or not."""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from sidecar.memory.answers import answer_search
from sidecar.memory.builder import refresh
from sidecar.memory.calls import read_calls
from sidecar.memory.dependents import dependents
from sidecar.memory.indexer import Indexer
from sidecar.memory.port import SearchRequest
from sidecar.memory.postings import FILE_SHIFT, is_worn
from sidecar.memory.resolver import Resolver
from sidecar.memory.store import get_meta, open_store, set_meta
from sidecar.memory.updates import update_files

FILES = {
    "a.py": "import b\n\n\ndef first():\n    return b.second()\n",
    "b.py": "def second(): ...\n",
    "c.py": "X = 1\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    return root


@pytest.fixture
def store(tmp_path: Path, workspace: Path) -> Iterator[sqlite3.Connection]:
    store = open_store(tmp_path / "index.db")
    refresh(store, str(workspace), list(FILES))
    set_meta(store, "state", "ready")
    yield store
    store.close()


def test_an_index_is_ready_only_with_all_changes_in_it(store: sqlite3.Connection, workspace: Path) -> None:
    refresh(store, str(workspace), list(FILES))
    assert get_meta(store, "state") == "ready"
    (workspace / "c.py").write_text("X = 22\n")
    refresh(store, str(workspace), list(FILES))
    assert get_meta(store, "state") != "ready", "the builder says so when the history is in as well"


def edit(store: sqlite3.Connection, workspace: Path, name: str, text: str) -> None:
    (workspace / name).write_text(text)
    assert update_files(store, str(workspace), [name])


def importers(store: sqlite3.Connection, path: str) -> list[tuple[str, int]]:
    return [(each.path, each.line) for each in dependents(store, path, "", 1)]


def test_edges_move_with_their_imports(store: sqlite3.Connection, workspace: Path) -> None:
    assert importers(store, "b.py") == [("a.py", 1)]
    edit(store, workspace, "a.py", f'"""Now with a title."""\n\n{FILES["a.py"]}')
    assert importers(store, "b.py") == [("a.py", 3)]


def test_another_import_leads_elsewhere(store: sqlite3.Connection, workspace: Path) -> None:
    edit(store, workspace, "a.py", "import c\n")
    assert importers(store, "b.py") == [] and importers(store, "c.py") == [("a.py", 1)]


def test_a_new_file_is_the_target_of_imports_that_waited_for_it(store: sqlite3.Connection, workspace: Path) -> None:
    edit(store, workspace, "a.py", "import d\n")
    edit(store, workspace, "d.py", "Y = 2\n")
    assert importers(store, "d.py") == [("a.py", 1)]
    (workspace / "d.py").unlink()
    assert update_files(store, str(workspace), ["d.py"])
    assert importers(store, "d.py") == []


def test_a_file_in_a_folder_without_indexed_files_waits_for_the_builder(
    store: sqlite3.Connection, workspace: Path
) -> None:
    (workspace / "ignored").mkdir()
    (workspace / "ignored/e.py").write_text("Z = 3\n")
    assert not update_files(store, str(workspace), ["ignored/e.py"])


def test_a_refresh_joins_many_segments_and_finds_the_same(
    store: sqlite3.Connection, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(store, workspace, "b.py", "def second(): ...\n\n\ndef third(): ...\n")
    monkeypatch.setattr("sidecar.memory.postings._SEGMENTS", 0)
    (workspace / "c.py").write_text("WALRUS = 1\n")
    refresh(store, str(workspace), list(FILES))
    assert store.execute("SELECT DISTINCT segment FROM postings").fetchall() == [(1,)]
    for word, path in (("third", "b.py"), ("walrus", "c.py"), ("first", "a.py")):
        hits, stale = answer_search(store, str(workspace), SearchRequest(word))
        assert [hit.path for hit in hits] == [path] and not stale


def test_what_edits_leave_behind_is_removed_when_it_is_much(
    store: sqlite3.Connection, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.memory.postings._FEW_DEAD", 20)
    monkeypatch.setattr("sidecar.memory.postings._DEAD_SHARE", 2)
    names = [f"walrus_{number}" for number in range(20)]
    for name in names:
        assert not is_worn(store)
        edit(store, workspace, "c.py", f"import b\n\n\ndef {name}():\n    return b.call_{name}()\n")
        if is_worn(store):
            break
    else:
        pytest.fail("edits add to the index for ever")
    refresh(store, str(workspace), list(FILES))
    assert not is_worn(store)
    living = {row[0] for row in store.execute("SELECT id FROM files")}
    callers = {name: {chunk >> FILE_SHIFT for chunk, _ in read_calls(store, f"call_{name}")} for name in names}
    assert all(files <= living for files in callers.values())
    assert [last for last, files in callers.items() if files] == [name]


def test_a_refresh_resolves_again_only_what_may_lead_elsewhere(
    store: sqlite3.Connection, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolved: list[str] = []
    resolve = Indexer.resolve

    def note(indexer: Indexer, resolver: Resolver, files: Iterable[tuple[int, str]]) -> None:
        known = list(files)
        resolved.extend(path for _, path in known)
        resolve(indexer, resolver, known)

    monkeypatch.setattr(Indexer, "resolve", note)
    (workspace / "c.py").write_text("X = 33\n")
    refresh(store, str(workspace), list(FILES))
    assert resolved == ["c.py"]
    (workspace / "c.py").write_bytes(b"\0")  # it leaves the index
    refresh(store, str(workspace), list(FILES))
    assert sorted(resolved[1:]) == ["a.py", "b.py"]
