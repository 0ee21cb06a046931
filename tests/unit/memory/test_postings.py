"""The inverted index: what is written is read, edits replace what they changed, and joining loses nothing alive."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.memory.postings import (
    CHUNKS_PER_FILE,
    EDITS,
    HISTORY,
    Accumulator,
    begin_segment,
    files_with,
    join_segments,
    read_postings,
)
from sidecar.memory.store import open_store, set_meta
from sidecar.memory.tokens import count_terms


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    store = open_store(tmp_path / "index.db")
    yield store
    store.close()


def chunk(file: int, place: int = 0) -> int:
    return file * CHUNKS_PER_FILE + place


def write(store: sqlite3.Connection, terms: dict[str, int], key: int, segment: int = 0) -> None:
    postings = Accumulator()
    postings.add(key, terms, 50)
    postings.write(store, segment or begin_segment(store))


def ids(store: sqlite3.Connection, term: str) -> list[int]:
    found = read_postings(store, [term])[0].get(term)
    return list(found.ids) if found else []


def test_the_postings_of_all_segments_come_in_order(store: sqlite3.Connection) -> None:
    write(store, {"parse": 1, "tree": 2}, chunk(2))
    write(store, {"parse": 3}, chunk(4, 1))
    assert ids(store, "parse") == [chunk(2), chunk(4, 1)]
    assert files_with(store, "tree") == {2}


def test_a_term_that_occurs_more_often_has_more_impact_and_less_in_a_longer_chunk(store: sqlite3.Connection) -> None:
    postings = Accumulator()
    postings.add(1, {"parse": 1}, 50)
    postings.add(2, {"parse": 9}, 50)
    postings.add(3, {"parse": 9}, 900)
    postings.write(store, 1)
    once, often, diluted = read_postings(store, ["parse"])[0]["parse"].impacts
    assert 0 < once < often <= 255 and diluted < often


def test_messages_of_commits_are_apart_from_chunks(store: sqlite3.Connection) -> None:
    write(store, {"parse": 1}, 7, HISTORY)
    chunks, commits = read_postings(store, ["parse"])
    assert not chunks and list(commits["parse"].ids) == [7]


def test_an_edit_replaces_the_postings_of_the_edit_before(store: sqlite3.Connection) -> None:
    write(store, {"parse": 1}, chunk(2))
    for version in (4, 6, 8):
        postings = Accumulator()
        postings.add(chunk(version), {"parse": 1}, 10)
        postings.append(store, EDITS, {version - 2})
    assert ids(store, "parse") == [chunk(2), chunk(8)]


def test_a_later_build_keeps_the_order_after_edits(store: sqlite3.Connection) -> None:
    write(store, {"parse": 1}, chunk(2))
    postings = Accumulator()
    postings.add(chunk(4), {"parse": 1}, 10)
    postings.append(store, EDITS, ())
    set_meta(store, "edits", 1)
    write(store, {"parse": 1}, chunk(6))
    assert ids(store, "parse") == [chunk(2), chunk(4), chunk(6)]


def test_joining_keeps_living_files_and_the_history_only(store: sqlite3.Connection) -> None:
    for file in (2, 4, 6):
        write(store, {"parse": 1, f"only{file}": 1}, chunk(file))
    write(store, {"parse": 1}, 9, HISTORY)
    join_segments(store, {2, 6})
    assert ids(store, "parse") == [chunk(2), chunk(6)]
    assert ids(store, "only4") == [] and ids(store, "only6") == [chunk(6)]
    assert list(read_postings(store, ["parse"])[1]["parse"].ids) == [9]
    assert store.execute("SELECT count(*) FROM postings WHERE segment > 1").fetchone() == (0,)


@pytest.mark.parametrize(
    "text", ["0x1F 12abc _a 3_b parse2xml no-wrap x-1 the_end", "a-b\n-c 1-d self.NO_WRAP(HTTPServer)"]
)
def test_plain_text_has_the_same_terms_beside_a_letter_that_is_not_ascii(text: str) -> None:
    assert count_terms(f"{text}\nß") == count_terms(text), "a single letter is no term"
