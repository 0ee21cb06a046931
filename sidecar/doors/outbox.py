"""Messages to send to other services, kept until they have them."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sidecar.doors.store import DoorsStore

#: Sent ones that are remembered, and dead ones that can be looked at.
REMEMBERED = 10_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS outbox (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, target TEXT NOT NULL, body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting', attempts INTEGER NOT NULL DEFAULT 0, next_at REAL NOT NULL DEFAULT 0,
    note TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS unsent ON outbox (target, id) WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS unsent_due ON outbox (next_at, id) WHERE state = 'waiting';
CREATE TABLE IF NOT EXISTS reading (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT NOT NULL, since TEXT NOT NULL);
"""
# One at a time to each target, so that what was said first arrives first.
DUE = """
SELECT id, key, target, body, attempts FROM outbox AS one WHERE state = 'waiting' AND next_at <= ?
  AND NOT EXISTS (SELECT 1 FROM outbox WHERE target = one.target AND state = 'waiting' AND id < one.id)
ORDER BY next_at, id LIMIT ?
"""


_INSERT = "INSERT OR IGNORE INTO outbox (key, target, body) VALUES (?, ?, ?)"


class NewMessage(NamedTuple):
    """`key` is the same each time it is written again; `target` is a subject, or the name of a webhook."""

    key: str
    target: str
    body: str


class OutboxMessage(NamedTuple):
    id: int
    key: str
    target: str
    body: str
    attempts: int


class DoorsOutbox:
    def __init__(self, store: DoorsStore) -> None:
        store.create(_SCHEMA)
        self._store = store
        #: Called when there is something new to send.
        self.on_write: Callable[[], None] = lambda: None
        #: Of the channels that are configured.
        self.prefixes: tuple[str, ...] = ()

    async def reading(self, now: str) -> tuple[str, str]:
        """How far the events were read, and since when they count."""

        def read(store: sqlite3.Connection) -> tuple[str, str]:
            store.execute("INSERT OR IGNORE INTO reading VALUES (1, '', ?)", (now,))
            cursor, since = store.execute("SELECT cursor, since FROM reading").fetchone()
            return cursor, since

        found: tuple[str, str] = await self._store.do(read)
        return found

    async def add(self, messages: Sequence[NewMessage], cursor: str) -> None:
        """In one commit with how far the events were read: none is lost, none is written twice."""

        def insert(store: sqlite3.Connection) -> None:
            store.executemany(_INSERT, messages)
            store.execute("UPDATE reading SET cursor = ?", (cursor,))

        await self._store.do(insert)
        if messages:
            self.on_write()

    async def write(self, *messages: NewMessage) -> None:
        """Messages that no event of a task asks for. One whose key is known is not written again."""
        await self._store.do(lambda store: store.executemany(_INSERT, messages))
        self.on_write()

    async def offer(self, outgoing: NewMessage) -> None:
        """Write it if a channel takes it: not every door that hears of a subject can also answer."""
        if outgoing.target.startswith(self.prefixes):
            await self.write(outgoing)

    async def begin(self, outgoing: OutboxMessage) -> None:
        """Count the attempt before it is made: after a crash it is unknown whether it succeeded."""
        sql = "UPDATE outbox SET attempts = attempts + 1 WHERE id = ?"
        await self._store.run(sql, (outgoing.id,))

    async def due(self, limit: int) -> list[OutboxMessage]:
        rows = await self._store.rows(DUE, (time.time(), limit))
        return [OutboxMessage(*row) for row in rows]

    async def next_at(self) -> float | None:
        sql = "SELECT next_at FROM outbox WHERE state = 'waiting' ORDER BY next_at LIMIT 1"
        row = await self._store.row(sql)
        return row[0] if row else None

    async def settle(self, outgoing: OutboxMessage, state: str, note: str = "") -> None:
        """`sent`, or `dead`: given up, with its content."""

        def update(store: sqlite3.Connection) -> None:
            sql = "UPDATE outbox SET state = ?, note = ?, body = iif(?, body, '') WHERE id = ?"
            store.execute(sql, (state, note[:500], state == "dead", outgoing.id))
            store.execute("DELETE FROM outbox WHERE id <= ? AND state != 'waiting'", (outgoing.id - REMEMBERED,))

        await self._store.do(update)

    async def postpone(self, outgoing: OutboxMessage, seconds: float, note: str) -> None:
        sql = "UPDATE outbox SET next_at = ?, note = ? WHERE id = ?"
        values = (time.time() + seconds, note[:500], outgoing.id)
        await self._store.run(sql, values)
