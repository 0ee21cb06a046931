"""Who calls a name: what is written is read, edits replace what they changed, and joining keeps living files only."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.memory.calls import CallAccumulator, join_calls, read_calls
from sidecar.memory.postings import CHUNKS_PER_FILE, EDITS, begin_segment
from sidecar.memory.store import open_store, set_meta


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    store = open_store(tmp_path / "index.db")
    yield store
    store.close()


def chunk(file: int, place: int = 0) -> int:
    return file * CHUNKS_PER_FILE + place


def collect(*calls: tuple[str, int, int]) -> CallAccumulator:
    found = CallAccumulator()
    for name, caller, line in calls:
        found.add(name, caller, line)
    return found


def test_the_calls_of_all_segments_are_read(store: sqlite3.Connection) -> None:
    collect(("parse", chunk(2), 7), ("parse", chunk(2, 1), 9), ("render", chunk(2), 8)).write(store, 1)
    collect(("parse", chunk(4), 3)).write(store, 2)
    assert list(read_calls(store, "parse")) == [(chunk(2), 7), (chunk(2, 1), 9), (chunk(4), 3)]
    assert list(read_calls(store, "render")) == [(chunk(2), 8)]
    assert list(read_calls(store, "pars")) == []


def test_what_is_written_is_not_written_again(store: sqlite3.Connection) -> None:
    calls = collect(("parse", chunk(2), 7))
    calls.write(store, 1)
    calls.write(store, 2)
    assert list(read_calls(store, "parse")) == [(chunk(2), 7)]


def test_an_edit_replaces_the_calls_of_the_edit_before_and_keeps_those_of_others(store: sqlite3.Connection) -> None:
    collect(("parse", chunk(2), 1)).write(store, 1)
    collect(("parse", chunk(4), 5)).append(store, EDITS, ())
    for version in (6, 8, 10):
        collect(("parse", chunk(version), version)).append(store, EDITS, {version - 2} if version > 6 else ())
    assert list(read_calls(store, "parse")) == [(chunk(4), 5), (chunk(10), 10), (chunk(2), 1)]


def test_a_later_build_keeps_the_calls_of_edits(store: sqlite3.Connection) -> None:
    collect(("parse", chunk(4), 5)).append(store, EDITS, ())
    set_meta(store, "edits", 1)
    collect(("parse", chunk(6), 6)).write(store, begin_segment(store))
    collect(("parse", chunk(8), 8)).append(store, EDITS, ())
    assert sorted(read_calls(store, "parse")) == [(chunk(4), 5), (chunk(6), 6), (chunk(8), 8)]


def test_joining_keeps_the_calls_of_living_files_in_one_segment(
    store: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.memory.calls._VALUES", 2)  # several rounds
    for segment, file in enumerate((2, 4, 6), 1):
        names = ("parse", f"only{file}", f"z{file}")
        collect(*((name, chunk(file), file) for name in names)).write(store, segment)
    join_calls(store, {2, 6})
    assert list(read_calls(store, "parse")) == [(chunk(2), 2), (chunk(6), 6)]
    names = [row[0] for row in store.execute("SELECT name FROM calls ORDER BY name")]
    assert names == ["only2", "only6", "parse", "z2", "z6"]
    assert store.execute("SELECT DISTINCT segment FROM calls").fetchall() == [(1,)]
