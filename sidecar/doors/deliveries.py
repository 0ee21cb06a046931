"""What arrived: stored before it is acknowledged, worked on after."""

import hashlib
import json
import sqlite3
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from sidecar.doors.store import DoorsStore

#: Keys of old deliveries that are remembered so that a repetition is recognised. Contents go when they are worked on.
REMEMBERED = 1_000_000
#: Issues and threads whose task is remembered; a delivery about an older one starts a new task.
SUBJECTS = 100_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS deliveries (
    id INTEGER PRIMARY KEY, door TEXT NOT NULL, delivery_id TEXT, digest BLOB NOT NULL, event TEXT NOT NULL,
    subject TEXT NOT NULL, payload TEXT, received REAL NOT NULL, state TEXT NOT NULL DEFAULT 'stored',
    attempts INTEGER NOT NULL DEFAULT 0, next_at REAL NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '', task_id TEXT,
    UNIQUE (door, digest), UNIQUE (door, delivery_id));
CREATE INDEX IF NOT EXISTS waiting ON deliveries (subject, id) WHERE state = 'stored';
CREATE TABLE IF NOT EXISTS subjects (subject TEXT PRIMARY KEY, task_id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS open_tasks (task_id TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS picks (issue TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS aliases (alias TEXT PRIMARY KEY, subject TEXT NOT NULL);
"""
# The oldest of each subject, so that the deliveries of one issue or thread are worked on in order.
_DUE = """
SELECT id, door, event, subject, payload, digest, attempts FROM deliveries AS one
WHERE state = 'stored' AND next_at <= ?
  AND NOT EXISTS (SELECT 1 FROM deliveries WHERE subject = one.subject AND state = 'stored' AND id < one.id)
ORDER BY id LIMIT ?
"""


_BEYOND = "SELECT 1 FROM deliveries WHERE state = 'stored' LIMIT 1 OFFSET ?"


class DeliveriesFull(Exception):
    """Nothing was stored: the sender should send it again later."""


class Arrival(NamedTuple):
    door: str
    #: As the sender names it; no signature covers it. Empty if the sender names none.
    delivery_id: str
    event: str
    #: What it is about, such as an issue; empty if it stands alone.
    subject: str
    #: As received: a delivery with the same bytes is the same delivery.
    body: bytes
    payload: Mapping[str, Any]


class Delivery(NamedTuple):
    id: int
    door: str
    event: str
    subject: str
    payload: str
    digest: bytes
    attempts: int

    @property
    def key(self) -> str:
        return f"door-{self.door}-{self.digest.hex()}"


class Deliveries:
    def __init__(self, store: DoorsStore) -> None:
        store.create(_SCHEMA)
        self._store = store

    async def add(self, arrival: Arrival, limit: int | None = None) -> bool:
        """Store a delivery; False if it is known, by its content or by its id.

        Raises `DeliveriesFull` if it is new and `limit` others are still to be worked on.
        """
        digest = hashlib.sha256(arrival.body).digest()
        subject = arrival.subject or f"{arrival.door}:{digest.hex()}"
        payload = json.dumps(arrival.payload, ensure_ascii=False, separators=(",", ":"))
        row = (arrival.door, arrival.delivery_id or None, digest, arrival.event, subject, subject, payload)

        def insert(store: sqlite3.Connection) -> bool | None:
            if limit is not None and store.execute(_BEYOND, (limit - 1,)).fetchone():
                same = "SELECT 1 FROM deliveries WHERE door = ? AND (delivery_id = ? OR digest = ?)"
                return False if store.execute(same, row[:3]).fetchone() else None
            sql = "INSERT OR IGNORE INTO deliveries (door, delivery_id, digest, event, subject, payload, received)"
            known = "coalesce((SELECT subject FROM aliases WHERE alias = ?), ?)"
            return store.execute(f"{sql} VALUES (?, ?, ?, ?, {known}, ?, ?)", (*row, time.time())).rowcount == 1

        added: bool | None = await self._store.do(insert)
        if added is None:
            raise DeliveriesFull
        return added

    async def due(self, limit: int) -> list[Delivery]:
        rows = await self._store.do(lambda store: store.execute(_DUE, (time.time(), limit)).fetchall())
        return [Delivery(*row) for row in rows]

    async def next_at(self) -> float | None:
        """When the next attempt is due."""
        row = await self._store.do(
            lambda store: store.execute("SELECT min(next_at) FROM deliveries WHERE state = 'stored'").fetchone()
        )
        found: float | None = row[0]
        return found

    async def task_of(self, subject: str) -> str | None:
        row = await self._store.do(
            lambda store: store.execute("SELECT task_id FROM subjects WHERE subject = ?", (subject,)).fetchone()
        )
        return row[0] if row else None

    async def open_tasks(self) -> list[str]:
        """Tasks that were at work when we last heard of them."""
        rows = await self._store.do(lambda store: store.execute("SELECT task_id FROM open_tasks").fetchall())
        return [row[0] for row in rows]

    async def end_task(self, task_id: str) -> None:
        await self._store.do(lambda store: store.execute("DELETE FROM open_tasks WHERE task_id = ?", (task_id,)))

    async def waiting(self, door: str) -> bool:
        """Whether deliveries of this door are still to be worked on."""
        sql = "SELECT 1 FROM deliveries WHERE state = 'stored' AND door = ? LIMIT 1"
        return await self._store.do(lambda store: store.execute(sql, (door,)).fetchone()) is not None

    async def note_pick(self, issue: str) -> bool:
        """False if this issue was picked before."""
        sql = "INSERT OR IGNORE INTO picks VALUES (?)"
        return bool(await self._store.do(lambda store: store.execute(sql, (issue,)).rowcount == 1))

    async def forget(self, subject: str) -> None:
        """What comes about it from now on starts a new task."""
        await self._store.do(lambda store: store.execute("DELETE FROM subjects WHERE subject = ?", (subject,)))

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
        await self._store.do(lambda store: store.execute(sql, values))
