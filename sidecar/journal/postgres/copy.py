"""Copies a SQLite journal into the database, task by task: it can be stopped and repeated, and checks its counts."""

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from sidecar.journal.port import DEFAULT_POOL, LEFT_OPEN
from sidecar.journal.postgres.connection import SCHEMA, address, connect, without_zeros
from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.journal.postgres.store import searched
from sidecar.journal.rows import type_of
from sidecar.journal.store import open_file
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import Status, StoredRequest

_TASK = (
    "SELECT position, id, created_at, conversation, idempotency_key, priority, request, status, state, workspace,"
    " pinned, archived FROM tasks ORDER BY position"
)
_INSERT = (
    "INSERT INTO tasks (id, created_at, conversation, idempotency_key, priority, pool, request, status, state,"
    " workspace, pinned, archived, last_seq, records, size)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
    " ON CONFLICT DO NOTHING RETURNING position"
)


@dataclass(slots=True)
class Copied:
    """How many there are in the file and, of those, in the database."""

    copied: int = 0
    #: Tasks that were there already.
    present: int = 0
    #: Tasks that are there in another state, or whose idempotency key another task has; they were left alone.
    different: list[str] = field(default_factory=list)
    source: dict[str, int] = field(default_factory=dict)
    target: dict[str, int] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return not self.different and self.source == self.target


async def copy_journal(file: Path, url: str, schema: str = SCHEMA) -> Copied:
    """No sidecar may use the file meanwhile. Tasks that have not ended are queued in the database."""
    # Migrates the file if it is older.
    source = open_file(file)
    source.row_factory = None
    journal = await PostgresJournal.open(url, schema=schema)
    target = await connect(address(url, schema))
    copied = Copied(source={"tasks": 0, "events": 0, "records": 0})
    ids: list[str] = []
    try:
        for task in source.execute(_TASK).fetchall():
            ids.append(task[1])
            events = _events(source, task[0])
            records = source.execute("SELECT kind, key, number, seq, body FROM records WHERE task = ?", (task[0],))
            await _copy_task(source, target, task, events, records.fetchall(), copied)
        copied.target = await _counts(target, ids)
        for left in await journal.left_open("copy"):
            if left.id in set(ids):
                await _queue(journal, left.id, left.status)
    finally:
        source.close()
        await target.close()
        await journal.close()
    return copied


def _events(source: sqlite3.Connection, position: int) -> list[tuple[int, str, str]]:
    return source.execute("SELECT seq, at, body FROM events WHERE task = ? ORDER BY seq", (position,)).fetchall()


async def _copy_task(
    source: sqlite3.Connection,
    target: psycopg.AsyncConnection[Any],
    task: tuple[Any, ...],
    events: list[tuple[int, str, str]],
    records: list[tuple[Any, ...]],
    copied: Copied,
) -> None:
    position, task_id, created, conversation, key, priority, request, status, state, workspace, pinned, archived = task
    for name, count in (("tasks", 1), ("events", len(events)), ("records", len(records))):
        copied.source[name] += count
    pool = StoredRequest.model_validate_json(request).options.pool or DEFAULT_POOL
    size = sum(len(body) for _, _, body in events) + sum(len(row[4]) for row in records)
    texts = [None if text is None else without_zeros(text) for text in (conversation, key, workspace)]
    columns = (task_id, created, texts[0], texts[1], priority, pool, request, status, state, texts[2])
    numbers = (len(events), len(records), size)
    async with target.transaction():
        await target.execute("SELECT begin_cursors()")
        found = await target.execute(_INSERT, (*columns, bool(pinned), bool(archived), *numbers))
        made = await found.fetchone()
        if made is None:
            await _compare(target, task_id, len(events), copied)
            return
        async with target.cursor() as cursor:
            await cursor.executemany(
                "INSERT INTO events VALUES (%s, %s, %s, %s, %s, nextval('cursors'))",
                [(made[0], seq, at, body, searched(type_of(body), body)) for seq, at, body in events],
            )
            await cursor.executemany(
                "INSERT INTO records (task, kind, key, number, seq, body) VALUES (%s, %s, %s, %s, %s, %s)",
                [(made[0], kind, key.encode(), number, seq, body.encode()) for kind, key, number, seq, body in records],
            )
            await _copy_contents(source, cursor, position, made[0])
    copied.copied += 1


async def _copy_contents(
    source: sqlite3.Connection, cursor: psycopg.AsyncCursor[Any], position: int, made: int
) -> None:
    """With what they are differences to."""
    needed = (
        "WITH RECURSIVE needed (digest) AS (SELECT digest FROM blob_uses WHERE task = ? UNION"
        " SELECT base FROM blobs JOIN needed USING (digest) WHERE base IS NOT NULL)"
        " SELECT digest, size, data, base, depth FROM blobs WHERE digest IN needed ORDER BY depth"
    )
    for row in source.execute(needed, (position,)):
        await cursor.execute("INSERT INTO blobs VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING", row)
    uses = source.execute("SELECT digest FROM blob_uses WHERE task = ?", (position,)).fetchall()
    await cursor.executemany(
        "INSERT INTO blob_uses VALUES (%s, %s) ON CONFLICT DO NOTHING", [(made, digest) for (digest,) in uses]
    )


async def _compare(target: psycopg.AsyncConnection[Any], task_id: str, events: int, copied: Copied) -> None:
    found = await (await target.execute("SELECT last_seq FROM tasks WHERE id = %s", (task_id,))).fetchone()
    # Work that went on in the database since an earlier copy is not undone.
    if found is None or found[0] < events:
        copied.different.append(task_id)
    else:
        copied.present += 1


async def _counts(target: psycopg.AsyncConnection[Any], ids: list[str]) -> dict[str, int]:
    found = await target.execute(
        "SELECT count(*), coalesce(sum((SELECT count(*) FROM events WHERE task = position)), 0)::bigint,"
        " coalesce(sum((SELECT count(*) FROM records WHERE task = position)), 0)::bigint FROM tasks"
        " WHERE id = ANY (%s)",
        (ids,),
    )
    row = await found.fetchone()
    assert row is not None
    return {"tasks": row[0], "events": row[1], "records": row[2]}


async def _queue(journal: PostgresJournal, task_id: str, status: Status) -> None:
    if status not in LEFT_OPEN or status is Status.CANCELLING:
        return
    died = StatusEvent(status=Status.INTERRUPTED, reason="The journal was copied to a database.")
    again = StatusEvent(status=Status.QUEUED, reason="resumed in the fleet")
    await journal.append(task_id, [again] if status is Status.INTERRUPTED else [died, again])
