"""Issues that we took ourselves: an intent before the session is created at Linear, and none after its delivery."""

import json
import sqlite3
import time
from typing import NamedTuple

from sidecar.doors.actions import Json
from sidecar.doors.deliveries import Arrival, insert
from sidecar.doors.store import DoorsStore

#: `picks` has every issue that was ever taken, `picking` those whose session isn't known yet.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS picks (issue TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS picking (issue TEXT PRIMARY KEY, content TEXT NOT NULL, since REAL NOT NULL);
"""


class Pick(NamedTuple):
    id: str
    issue: Json


class Picks:
    """Needs the tables of `Deliveries`."""

    def __init__(self, store: DoorsStore) -> None:
        store.create(_SCHEMA)
        self._store = store

    async def begin(self, pick: Pick) -> bool:
        """False if this issue was taken before."""
        row = (pick.id, json.dumps(pick.issue), time.time())

        def note(store: sqlite3.Connection) -> bool:
            if store.execute("INSERT OR IGNORE INTO picks VALUES (?)", row[:1]).rowcount == 0:
                return False
            store.execute("INSERT INTO picking VALUES (?, ?, ?)", row)
            return True

        return bool(await self._store.do(note))

    async def unfinished(self) -> list[Pick]:
        """Begun by this process or an earlier one, oldest first."""
        sql = "SELECT issue, content FROM picking ORDER BY since"
        rows = await self._store.do(lambda store: store.execute(sql).fetchall())
        return [Pick(name, json.loads(content)) for name, content in rows]

    async def finish(self, pick: Pick, arrival: Arrival | None) -> None:
        """In one commit with the delivery that its session begins with; without one it is given up."""
        rows = [arrival.row()] if arrival is not None else []

        def end(store: sqlite3.Connection) -> None:
            if rows:
                insert(store, rows)
            store.execute("DELETE FROM picking WHERE issue = ?", (pick.id,))

        await self._store.do(end)
