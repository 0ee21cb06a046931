"""Notes in the database of a fleet: what people decided holds on every machine."""

from collections.abc import Sequence
from typing import Any

import psycopg

from sidecar.journal.errors import JournalStalled
from sidecar.journal.postgres.connection import LOST, SCHEMA, address, explain, without_zeros
from sidecar.memory.notes import Notes


class SharedNotes(Notes):
    """The journal has made the table. Its methods block, so call them in a thread."""

    def __init__(self, url: str, schema: str = SCHEMA) -> None:
        self._conninfo = address(url, schema)

    def _ask(self, statement: str, values: Sequence[object], *, writes: bool = False) -> Sequence[Any]:
        plain = [without_zeros(value) if isinstance(value, str) else value for value in values]
        try:
            with psycopg.connect(self._conninfo, autocommit=True) as connection:
                return connection.execute(psycopg.sql.SQL(statement.replace("?", "%s")), plain).fetchall()
        except LOST as error:
            raise JournalStalled(explain(error)) from error
