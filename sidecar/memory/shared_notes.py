"""Notes in the database of a fleet: what people decided holds on every machine."""

import os
from collections.abc import Sequence
from typing import Any

import psycopg

from sidecar.journal.errors import JournalStalled
from sidecar.journal.postgres.connection import LOST, SCHEMA, address, explain, without_zeros
from sidecar.memory.notes import Notes, Place


class SharedNotes(Notes):
    """The journal has made the table. Its methods block, so call them in a thread."""

    def __init__(self, url: str, schema: str = SCHEMA, place: Place = os.path.realpath) -> None:
        self.place = place
        self._conninfo = address(url, schema)

    def copy(self, notes: Notes) -> tuple[int, int]:
        """How many were copied, and how many were here already: those stay as people left them."""
        copied = 0
        found = notes.all()
        for note in found:
            insert = "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING id"
            copied += len(self._ask(insert, note, writes=True))
        return copied, len(found) - copied

    def _ask(self, statement: str, values: Sequence[object], *, writes: bool = False) -> Sequence[Any]:
        plain = [without_zeros(value) if isinstance(value, str) else value for value in values]
        try:
            with psycopg.connect(self._conninfo, autocommit=True) as connection:
                return connection.execute(psycopg.sql.SQL(statement.replace("?", "%s")), plain).fetchall()
        except LOST as error:
            raise JournalStalled(explain(error)) from error
