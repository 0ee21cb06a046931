"""Who calls a name: for each name the chunks that call it, each with the line of its first call.

Stored in segments, as `postings` are: a row for each call would take longer to write than everything else in a file.
Calls outside of any definition belong to the place of the file's path.
"""

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator

from sidecar.memory.postings import FILE_SHIFT

_VALUES = 500
_INSERT = "INSERT OR REPLACE INTO calls VALUES (?, ?, ?)"


class CallAccumulator:
    """Collects calls until they are written as one segment."""

    def __init__(self) -> None:
        self._lists: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, name: str, chunk: int, line: int) -> None:
        self._lists[name] += (chunk, line)

    def write(self, store: sqlite3.Connection, segment: int) -> None:
        rows = ((name, segment, array("I", values).tobytes()) for name, values in sorted(self._lists.items()))
        store.executemany(_INSERT, rows)
        self._lists.clear()

    def append(self, store: sqlite3.Connection, segment: int, gone: Collection[int]) -> None:
        """Add to a segment that is there, and drop the calls of files that are gone."""
        for name, values in self._lists.items():
            row = store.execute("SELECT places FROM calls WHERE name = ? AND segment = ?", (name, segment)).fetchone()
            if row is not None:
                known = array("I", row[0])
                pairs = zip(known[::2], known[1::2], strict=True)
                values[:0] = [number for pair in pairs if pair[0] >> FILE_SHIFT not in gone for number in pair]
        self.write(store, segment)


def read_calls(store: sqlite3.Connection, name: str) -> Iterator[tuple[int, int]]:
    """The chunks that call a name, with the line; some may be gone."""
    for (places,) in store.execute("SELECT places FROM calls WHERE name = ?", (name,)):
        values = array("I", places)
        yield from zip(values[::2], values[1::2], strict=True)


def join_calls(store: sqlite3.Connection, files: Collection[int]) -> None:
    """Make one segment of all, without the calls of other files than these. Inside of a transaction."""
    last = ""
    while names := store.execute(
        "SELECT DISTINCT name FROM calls WHERE name > ? ORDER BY name LIMIT ?", (last, _VALUES)
    ).fetchall():
        first, last = names[0][0], names[-1][0]
        joined = CallAccumulator()
        for (name,) in names:
            for chunk, line in read_calls(store, name):
                if chunk >> FILE_SHIFT in files:
                    joined.add(name, chunk, line)
        store.execute("DELETE FROM calls WHERE name BETWEEN ? AND ?", (first, last))
        joined.write(store, 1)
