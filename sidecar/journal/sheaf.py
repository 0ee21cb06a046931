"""Rows on their way into a table, many in one statement.

A statement runs while other threads go on with their work, but before and after it this thread has to wait for its
turn among them. Rows that come one by one would wait once each.
"""

import sqlite3
from collections.abc import Sequence

_MOST = 64


class Sheaf:
    def __init__(self, connection: sqlite3.Connection, table: str, columns: int) -> None:
        self._connection = connection
        self._insert = f"INSERT INTO {table} VALUES "  # noqa: S608 a table of ours
        self._row = f"({', '.join('?' * columns)})"
        self._rows: list[Sequence[object]] = []

    def add(self, row: Sequence[object]) -> None:
        self._rows.append(row)

    def bind(self) -> None:
        """Puts them into the table. If one is refused, so are all that came with it."""
        rows, self._rows = self._rows, []
        while rows:
            # Always one of a few numbers of rows: each has a statement of its own, which is kept.
            count = min(1 << (len(rows).bit_length() - 1), _MOST)
            some, rows = rows[:count], rows[count:]
            values = [value for row in some for value in row]
            self._connection.execute(self._insert + ", ".join([self._row] * count), values)

    def drop(self) -> None:
        self._rows = []
