"""The inverted index: for each term the chunks that hold it, and how much it says there.

A posting is a chunk's id and an impact from 1 to 255: the term's share of a BM25 score, without its rarity. A term's
lists are stored in segments, each written at once: one for each batch of the builder, one for the files that changed
since then, and one for the messages of commits.

A full-text table of SQLite holds the same, but it takes longer to write and ten times as long to rank.
"""

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from itertools import compress
from typing import NamedTuple

from sidecar.memory.store import get_meta, set_meta

#: Segments of the messages of commits, and of files that changed since the last build.
HISTORY = -1
EDITS = 0
#: A chunk's id is its file's id times this, plus its place in the file.
CHUNKS_PER_FILE = 4_096
FILE_SHIFT = 12
#: The last place of a file is for its path.
PATH_PLACE = CHUNKS_PER_FILE - 1
#: The last file id whose chunks have ids of 32 bits.
LAST_FILE = (1 << (32 - FILE_SHIFT)) - 1
#: Before a term: the term as a part of a definition's name.
NAME = "."

_K1 = 1.2
_B = 0.6
#: A usual chunk; fixed, so that an impact never has to be computed again.
_LENGTH = 70.0
_MOST = 255
#: Segments beyond which the lists of each term are joined.
_SEGMENTS = 40
#: Chunks that are gone, as a share of all, beyond which their postings and calls are removed.
_DEAD_SHARE = 0.5
_FEW_DEAD = 20_000
_VALUES = 500
#: Terms whose lists are joined at once; in a large workspace one list takes a megabyte.
_JOINED = 50


class Postings(NamedTuple):
    """Ids in order, and the impact of each."""

    ids: "array[int]"
    impacts: bytes


NONE = Postings(array("I"), b"")


class Accumulator:
    """Collects the postings of many chunks until they are written as one segment."""

    def __init__(self) -> None:
        self._lists: defaultdict[str, list[int]] = defaultdict(list)
        self.size = 0

    def add(self, chunk: int, weights: Mapping[str, int], length: int) -> None:
        """`weights` says how often each term occurs, more for the terms of a name."""
        try:
            counts = bytes(weights.values())
        except ValueError:  # beyond what a byte holds
            counts = bytes([min(weight, _MOST) for weight in weights.values()])
        lists = self._lists
        for term, impact in zip(weights, counts.translate(_impacts(min(length // 8, 255))), strict=True):
            # One list for both, so that a posting takes two references and no object.
            values = lists[term]
            values.append(chunk)
            values.append(impact)
        self.size += len(weights)

    def write(self, store: sqlite3.Connection, segment: int) -> None:
        rows = (
            (term, segment, array("I", values[::2]).tobytes(), bytes(values[1::2]))
            for term, values in sorted(self._lists.items())
        )
        store.executemany("INSERT OR REPLACE INTO postings VALUES (?, ?, ?, ?)", rows)
        self.clear()

    def append(self, store: sqlite3.Connection, segment: int, gone: Collection[int]) -> None:
        """Add to a segment that is there, and drop the postings of files that are gone."""
        for term, values in self._lists.items():
            row = store.execute(
                "SELECT ids, impacts FROM postings WHERE term = ? AND segment = ?", (term, segment)
            ).fetchone()
            if row is not None:
                known = zip(array("I", row[0]), row[1], strict=True)
                kept = [each for each in known if each[0] >> FILE_SHIFT not in gone]
                values[:0] = [number for each in kept for number in each]
        self.write(store, segment)

    def clear(self) -> None:
        self._lists.clear()
        self.size = 0


@cache
def _impacts(length: int) -> bytes:
    """The impact of each weight in a chunk of eight times this length."""
    norm = _K1 * (1 - _B + _B * length * 8 / _LENGTH)
    return bytes(max(1, round(_MOST * weight / (weight + norm))) for weight in range(_MOST + 1))


def read_postings(store: sqlite3.Connection, terms: Iterable[str]) -> tuple[dict[str, Postings], dict[str, Postings]]:
    """For each term that occurs, its postings in chunks, and those in the messages of commits."""
    wanted = list(terms)
    chunks: dict[str, Postings] = {}
    commits: dict[str, Postings] = {}
    for start in range(0, len(wanted), _VALUES):
        part = wanted[start : start + _VALUES]
        marks = ",".join("?" * len(part))
        rows = store.execute(
            f"SELECT term, segment, ids, impacts FROM postings WHERE term IN ({marks}) ORDER BY term, segment",  # noqa: S608
            part,
        )
        edits: dict[str, Postings] = {}
        for term, segment, ids, impacts in rows:
            new = Postings(array("I", ids), impacts)
            if segment == HISTORY:
                commits[term] = new
            elif segment == EDITS:
                edits[term] = new
            elif term in chunks:
                chunks[term] = _joined(chunks[term], new)
            else:
                chunks[term] = new
        for term, new in edits.items():  # their ids are the highest
            chunks[term] = _joined(chunks[term], new) if term in chunks else new
    return chunks, commits


def _joined(first: Postings, second: Postings) -> Postings:
    if not first.ids or not second.ids or first.ids[-1] < second.ids[0]:
        return Postings(first.ids + second.ids, first.impacts + second.impacts)
    pairs = sorted([*zip(*first, strict=True), *zip(*second, strict=True)])
    return Postings(array("I", [pair[0] for pair in pairs]), bytes(pair[1] for pair in pairs))


def files_with(store: sqlite3.Connection, term: str) -> set[int]:
    """The ids of the files that hold a term; some may be gone."""
    found = read_postings(store, (term,))[0].get(term, NONE)
    return {chunk >> FILE_SHIFT for chunk in found.ids}


def begin_segment(store: sqlite3.Connection) -> int:
    """The number of a new segment of the builder. Inside of a transaction."""
    if get_meta(store, "edits") == "1":  # their ids are lower than those of the new segment
        number = _count(store)
        for table in ("postings", "calls"):
            store.execute(f"UPDATE {table} SET segment = ? WHERE segment = ?", (number, EDITS))  # noqa: S608
        set_meta(store, "edits", 0)
    return _count(store)


def _count(store: sqlite3.Connection) -> int:
    number = int(get_meta(store, "segments") or 0) + 1
    set_meta(store, "segments", number)
    return number


def join_segments(store: sqlite3.Connection, files: Collection[int]) -> None:
    """Make one segment of all, without the postings of other files than these. Inside of a transaction."""
    last = ""
    while terms := store.execute(
        "SELECT DISTINCT term FROM postings WHERE term > ? AND segment >= 0 ORDER BY term LIMIT ?", (last, _JOINED)
    ).fetchall():
        first, last = terms[0][0], terms[-1][0]
        rows = []
        for term, (ids, impacts) in read_postings(store, [row[0] for row in terms])[0].items():
            living = [each >> FILE_SHIFT in files for each in ids]
            if any(living):
                rows.append((term, 1, array("I", compress(ids, living)).tobytes(), bytes(compress(impacts, living))))
        store.execute("DELETE FROM postings WHERE term BETWEEN ? AND ? AND segment >= 0", (first, last))
        store.executemany("INSERT INTO postings VALUES (?, ?, ?, ?)", rows)
    set_meta(store, "segments", 1)
    set_meta(store, "edits", 0)


def is_worn(store: sqlite3.Connection) -> bool:
    """Whether the lists of each term and name should be joined: there are many, or most of them lead to nothing."""
    dead = int(get_meta(store, "dead") or 0)
    many = int(get_meta(store, "segments") or 0) > _SEGMENTS
    return many or (dead > _FEW_DEAD and dead > _DEAD_SHARE * int(get_meta(store, "chunk_count") or 1))
