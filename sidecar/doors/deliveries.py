"""What arrived: stored before it is acknowledged, worked on after."""

import asyncio
import hashlib
import sqlite3
import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from sidecar.doors.store import DoorsStore
from sidecar.telemetry.correlation import parse

#: Keys of old deliveries that are remembered so that a repetition is recognised. Contents go when they are worked on.
REMEMBERED = 1_000_000
#: Deliveries that may wait to be worked on.
MAX_WAITING = 5_000
#: Deliveries that one statement stores; SQLite allows 32,766 values in it.
_BATCH = 500
#: Issues and threads whose task is remembered; a delivery about an older one starts a new task.
SUBJECTS = 100_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS deliveries (
    id INTEGER PRIMARY KEY, door TEXT NOT NULL, delivery_id TEXT, digest BLOB NOT NULL, event TEXT NOT NULL,
    subject TEXT NOT NULL, payload TEXT, received REAL NOT NULL, state TEXT NOT NULL DEFAULT 'stored',
    attempts INTEGER NOT NULL DEFAULT 0, next_at REAL NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '', task_id TEXT,
    UNIQUE (door, digest), UNIQUE (door, delivery_id));
CREATE INDEX IF NOT EXISTS waiting ON deliveries (subject, id) WHERE state = 'stored';
CREATE INDEX IF NOT EXISTS due ON deliveries (next_at, id) WHERE state = 'stored';
CREATE TABLE IF NOT EXISTS subjects (subject TEXT PRIMARY KEY, task_id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS open_tasks (task_id TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS aliases (alias TEXT PRIMARY KEY, subject TEXT NOT NULL);
"""
# The oldest of each subject, so that the deliveries of one issue or thread are worked on in order.
DUE = """
SELECT id, door, event, subject, payload, digest, attempts, trace FROM deliveries AS one
WHERE state = 'stored' AND next_at <= ?
  AND NOT EXISTS (SELECT 1 FROM deliveries WHERE subject = one.subject AND state = 'stored' AND id < one.id)
ORDER BY next_at, id LIMIT ?
"""
_INSERT = (
    "INSERT OR IGNORE INTO deliveries (door, delivery_id, digest, event, subject, payload, received, trace) VALUES "
)
_VALUES = "(?, ?, ?, ?, coalesce((SELECT subject FROM aliases WHERE alias = ?), ?), ?, ?, ?)"
_Row = tuple[str, str | None, bytes, str, str, str, str, float, str]


class DeliveriesFull(Exception):
    """Nothing was stored: the sender should send it again later."""


class Arrival(NamedTuple):
    door: str
    #: As the sender names it; no signature covers it. Empty if the sender names none.
    delivery_id: str
    event: str
    #: What it is about, such as an issue; empty if it is about nothing else.
    subject: str
    #: As received: a delivery with the same bytes is the same delivery.
    body: bytes
    #: Its JSON.
    payload: str
    #: The `traceparent` that it came with; no signature covers it.
    trace: str = ""

    def row(self) -> _Row:
        digest = hashlib.sha256(self.body).digest()
        subject, name = _storable(self.subject) or f"{self.door}:{digest.hex()}", _storable(self.delivery_id)
        given = (self.door, name or None, digest, _storable(self.event), subject, subject, self.payload)
        return (*given, time.time(), self.trace if parse(self.trace) else "")


def _storable(text: str) -> str:
    """JSON can hold lone surrogates, which no store takes."""
    return text.encode("utf-8", "replace").decode()


def insert(store: sqlite3.Connection, rows: Sequence[_Row]) -> list[bool]:
    """Which of them were new.

    One statement for all: with one for each, this thread would ask for the interpreter's lock each time, while the
    thread that answers is at work, and wait 5 ms for it.
    """
    newest = store.execute("SELECT max(id) FROM deliveries").fetchone()[0] or 0
    sql = _INSERT + ", ".join([_VALUES] * len(rows))
    if store.execute(sql, [value for row in rows for value in row]).rowcount == len(rows):
        return [True] * len(rows)
    found = set(store.execute("SELECT door, digest FROM deliveries WHERE id > ?", (newest,)).fetchall())
    new = []
    for door, _, digest, *_ in rows:
        new.append((door, digest) in found)
        found.discard((door, digest))
    return new


class Delivery(NamedTuple):
    id: int
    door: str
    event: str
    subject: str
    payload: str
    digest: bytes
    attempts: int
    trace: str

    @property
    def key(self) -> str:
        return f"door-{self.door}-{self.digest.hex()}"


class Deliveries:
    def __init__(self, store: DoorsStore, limit: int = MAX_WAITING) -> None:
        store.create(_SCHEMA)
        store.add_column("deliveries", "trace", "TEXT NOT NULL DEFAULT ''")  # earlier versions had none
        self._store = store
        self._limit = limit
        #: How many more may wait, at least; counted again when it reaches 0.
        self._room = 0
        self._arriving: list[tuple[_Row, asyncio.Future[bool | None]]] = []
        self._storing: asyncio.Task[None] | None = None

    async def add(self, arrival: Arrival) -> bool:
        """Store a delivery; False if it is known, by its content or by its id.

        Raises `DeliveriesFull` if it is new and there is no room for it.
        """
        future: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()
        self._arriving.append((arrival.row(), future))
        if self._storing is None:
            self._storing = asyncio.create_task(self._store_arrivals(), name="store-deliveries")
        added = await future
        if added is None:
            raise DeliveriesFull
        return added

    async def _store_arrivals(self) -> None:
        """What arrives during one commit is stored by the next."""
        while self._arriving:
            taken, self._arriving = self._arriving[:_BATCH], self._arriving[_BATCH:]
            try:
                stored = await self._store.do(partial(self._insert, [row for row, _ in taken]))
            except Exception as error:
                for _, future in taken:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), new in zip(taken, stored, strict=True):
                if not future.done():
                    future.set_result(new)
        self._storing = None

    def _insert(self, rows: Sequence[_Row], store: sqlite3.Connection) -> list[bool | None]:
        """Which were new; `None` for those that there is no room for."""
        if len(rows) > self._room:
            waiting = store.execute("SELECT count(*) FROM deliveries WHERE state = 'stored'").fetchone()[0]
            self._room = self._limit - waiting
        if len(rows) > self._room:
            return [self._insert_one(store, row) for row in rows]
        new = insert(store, rows)
        self._room -= sum(new)
        return [*new]

    def _insert_one(self, store: sqlite3.Connection, row: _Row) -> bool | None:
        if self._room > 0:
            [new] = insert(store, [row])
            self._room -= new
            return new
        same = "SELECT 1 FROM deliveries WHERE door = ? AND (delivery_id = ? OR digest = ?)"
        return False if store.execute(same, row[:3]).fetchone() else None

    async def due(self, limit: int) -> list[Delivery]:
        rows = await self._store.rows(DUE, (time.time(), limit))
        return [Delivery(*row) for row in rows]

    async def next_at(self) -> float | None:
        """When the next attempt is due."""
        row = await self._store.row("SELECT next_at FROM deliveries WHERE state = 'stored' ORDER BY next_at LIMIT 1")
        return row[0] if row else None

    async def task_of(self, subject: str) -> str | None:
        row = await self._store.row("SELECT task_id FROM subjects WHERE subject = ?", (subject,))
        return row[0] if row else None

    async def open_tasks(self) -> list[str]:
        """Tasks that were at work at their last known event."""
        rows = await self._store.rows("SELECT task_id FROM open_tasks")
        return [row[0] for row in rows]

    async def end_task(self, task_id: str) -> None:
        await self._store.run("DELETE FROM open_tasks WHERE task_id = ?", (task_id,))

    async def waiting(self, door: str) -> bool:
        """Whether deliveries of this door are still to be worked on."""
        sql = "SELECT 1 FROM deliveries WHERE state = 'stored' AND door = ? LIMIT 1"
        return await self._store.row(sql, (door,)) is not None

    async def forget(self, subject: str) -> None:
        """What comes about it from now on starts a new task."""
        await self._store.run("DELETE FROM subjects WHERE subject = ?", (subject,))

    async def settle(self, delivery: Delivery, state: str, note: str = "", task_id: str | None = None) -> None:
        """`state` is `done`, `ignored` or `dead`; only a dead delivery keeps its content."""

        def update(store: sqlite3.Connection) -> None:
            sql = "UPDATE deliveries SET state = ?, note = ?, task_id = ?, payload = iif(?, payload, NULL) WHERE id = ?"
            store.execute(sql, (state, note[:500], task_id, state == "dead", delivery.id))
            if task_id is not None:
                store.execute("INSERT OR REPLACE INTO subjects VALUES (?, ?)", (delivery.subject, task_id))
                if state == "done":
                    store.execute("INSERT OR IGNORE INTO open_tasks VALUES (?)", (task_id,))
                oldest = "DELETE FROM subjects WHERE rowid <= (SELECT max(rowid) FROM subjects) - ?"
                store.execute(oldest, (SUBJECTS,))
            store.execute("DELETE FROM deliveries WHERE id <= ? AND state != 'stored'", (delivery.id - REMEMBERED,))

        await self._store.do(update)

    async def postpone(self, delivery: Delivery, seconds: float, note: str) -> None:
        values = (time.time() + seconds, note[:500], delivery.id)
        sql = "UPDATE deliveries SET attempts = attempts + 1, next_at = ?, note = ? WHERE id = ?"
        await self._store.run(sql, values)
