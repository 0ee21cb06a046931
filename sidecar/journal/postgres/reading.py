"""What can be read of a journal in a PostgreSQL database, over a few connections at once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import psycopg
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from sidecar.journal import rows
from sidecar.journal.blobs import unpack
from sidecar.journal.errors import CursorLost, JournalClosed, JournalStalled, UnknownTask
from sidecar.journal.port import ALL_TASKS, LEFT_OPEN, EventsPage, Page, Record, StoredEvent, TaskFilter
from sidecar.journal.postgres.connection import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    LOST,
    STATEMENT_SECONDS,
    explain,
    without_zeros,
)
from sidecar.journal.postgres.schema import TERM_CHARACTERS
from sidecar.journal.words import plain, terms_of
from sidecar.wire.tasks import Status, StoredRequest, Task

T = TypeVar("T")
Connection = psycopg.AsyncConnection[TupleRow]
CONNECTIONS = 4
#: How long a request waits to read from a database that is away.
READ_SECONDS = 5.0
RECONNECT_SECONDS = 2.0
_HOLDING = "SELECT task FROM events WHERE words IS NOT NULL AND terms_of(words) @@ %s::tsquery"
_TASK = "position, id, created_at, request, state, last_seq"


class JournalReader:
    """With `patient` a read waits for a database that is away, as a follower does; otherwise it gives up."""

    def __init__(self, conninfo: str) -> None:
        # While the database is away it would warn of every try.
        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
        self._readers: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            conninfo,
            min_size=1,
            max_size=CONNECTIONS,
            timeout=READ_SECONDS,
            open=False,
            kwargs={"autocommit": True},
            # The pool waits longer and longer between tries; each read begins them anew.
            reconnect_timeout=RECONNECT_SECONDS,
        )
        self._closed = False

    async def events(self, task_id: str, after: int = 0, limit: int = 500, *, patient: bool = False) -> Page:
        # One statement: the events, the newest number and the status belong to the same moment.
        query = (
            "SELECT tasks.last_seq, tasks.status, events.seq, events.at, events.body, events.cursor FROM tasks"
            " LEFT JOIN LATERAL (SELECT * FROM events WHERE task = position AND seq > %s ORDER BY seq LIMIT %s)"
            " AS events ON true WHERE id = %s ORDER BY events.seq"
        )
        found = await self.query(query, (after, limit, task_id), patient=patient)
        if not found:
            raise UnknownTask(task_id)
        events = (_event(task_id, *row[2:]) for row in found if row[2] is not None)
        return Page(rows.page_of(events), found[0][0], Status(found[0][1]))

    async def all_events(
        self, after: int | None = 0, limit: int = 500, *, skip_pruned: bool = False, patient: bool = False
    ) -> EventsPage:
        async def read(connection: Connection) -> EventsPage:
            # First how far all writers are done, then the events: in this order none of them is passed over.
            cursor = await connection.execute("SELECT newest, settled, pruned FROM settled_cursor(), pruning")
            row = await cursor.fetchone()
            assert row is not None
            newest, settled, pruned = row
            if after is None:
                return EventsPage((), settled)
            if after and ((after < pruned and not skip_pruned) or after > newest):
                raise CursorLost(after)
            found = await connection.execute(
                "SELECT tasks.id, seq, at, body, cursor FROM events JOIN tasks ON tasks.position = events.task"
                " WHERE cursor > %s AND cursor <= %s ORDER BY cursor LIMIT %s",
                (after, settled, limit),
            )
            return EventsPage(rows.page_of([_event(*row) for row in await found.fetchall()]), settled)

        return await self.read(read, patient=patient)

    async def records(self, task_id: str, *, patient: bool = False) -> Sequence[Record]:
        query = (
            "SELECT kind, key, body, seq FROM tasks LEFT JOIN (SELECT kind, key, body, seq, number, task FROM records)"
            " AS records ON task = position WHERE id = %s ORDER BY number"
        )
        found = await self.query(query, (task_id,), patient=patient)
        if not found:
            raise UnknownTask(task_id)
        return [Record(kind, key.decode(), body.decode(), seq) for kind, key, body, seq in found if kind is not None]

    async def task(self, task_id: str) -> Task:
        found = await self.query(f"SELECT {_TASK} FROM tasks WHERE id = %s", (task_id,))  # noqa: S608
        if not found:
            raise UnknownTask(task_id)
        return rows.task_from(found[0])

    async def find_by_key(self, idempotency_key: str) -> str | None:
        found = await self.query("SELECT id FROM tasks WHERE idempotency_key = %s", (without_zeros(idempotency_key),))
        return found[0][0] if found else None

    async def request(self, task_id: str) -> StoredRequest:
        found = await self.query("SELECT request FROM tasks WHERE id = %s", (task_id,))
        if not found:
            raise UnknownTask(task_id)
        return StoredRequest.model_validate_json(found[0][0])

    async def tasks(
        self, wanted: TaskFilter = ALL_TASKS, *, limit: int = 50, before: str | None = None
    ) -> Sequence[Task]:
        terms = terms_of(wanted.words)
        if wanted.words.strip() and not terms:
            return []
        conditions: list[str] = ["true"]
        values: list[object] = []
        for column, allowed in (("status", wanted.statuses), ("workspace", wanted.workspaces)):
            if allowed:
                conditions.append(f"{column} = ANY (%s)")
                values.append([without_zeros(each) for each in allowed])
        for column, flag in (("pinned", wanted.pinned), ("archived", wanted.archived)):
            if flag is not None:
                conditions.append(column if flag else f"NOT {column}")
        if wanted.conversation is not None:
            conditions.append("conversation = %s")
            values.append(without_zeros(wanted.conversation))
        if before is not None:
            conditions.append("position < (SELECT position FROM tasks WHERE id = %s)")
            values.append(without_zeros(before))
        texts = [plain(term) for term in terms]
        if wanted.any_word and texts:
            conditions.append(f"position IN ({_HOLDING})")
            values.append(" | ".join(f"({_query_of(text)})" for text in texts))
        for text in [] if wanted.any_word else texts:
            # The index knows no order of words. They have no character that LIKE gives a meaning.
            conditions.append(f"position IN ({_HOLDING} AND words LIKE %s)")
            values += [_query_of(text), f"% {text}%"]
        query = f"SELECT {_TASK} FROM tasks WHERE {' AND '.join(conditions)} ORDER BY position DESC LIMIT %s"  # noqa: S608
        return [rows.task_from(row) for row in await self.query(query, (*values, limit))]

    async def counts(self) -> dict[Status, int]:
        found = await self.query("SELECT status, count(*) FROM tasks GROUP BY status")
        return {Status(status): count for status, count in found}

    async def left_open(self, owner: str) -> Sequence[Task]:
        query = (
            f"SELECT {_TASK} FROM tasks WHERE (status = ANY (%s) AND lease_owner IS DISTINCT FROM %s)"  # noqa: S608
            " OR (status = 'queued' AND lease_owner IS NOT NULL AND lease_owner != %s) ORDER BY position"
        )
        return [rows.task_from(row) for row in await self.query(query, (list(LEFT_OPEN), owner, owner))]

    async def tasks_with_undo(self) -> Sequence[str]:
        query = (
            "SELECT id FROM tasks WHERE position IN (SELECT task FROM records AS planned WHERE kind = 'undo' AND NOT"
            " EXISTS (SELECT FROM records WHERE task = planned.task AND kind = 'undone' AND key = planned.key))"
            " ORDER BY position"
        )
        return [row[0] for row in await self.query(query, ())]

    async def blob(self, digest: str) -> bytes | None:
        query = (
            "WITH RECURSIVE chain (data, base, number) AS (SELECT data, base, 0 FROM blobs WHERE digest = %s UNION ALL"
            " SELECT blobs.data, blobs.base, number + 1 FROM chain JOIN blobs ON digest = chain.base)"
            " SELECT data, base FROM chain ORDER BY number"
        )
        found = await self.query(query, (digest,))
        return unpack(digest, [row[0] for row in found]) if found and found[-1][1] is None else None

    async def query(self, query: str, values: Sequence[object] = (), *, patient: bool = False) -> list[TupleRow]:
        async def read(connection: Connection) -> list[TupleRow]:
            return await (await connection.execute(query, values)).fetchall()

        return await self.read(read, patient=patient)

    async def read(self, query: Callable[[Connection], Awaitable[T]], *, patient: bool = False) -> T:
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE
        give_up = loop.time() + READ_SECONDS
        while True:
            if self._closed:
                raise JournalClosed
            try:
                async with asyncio.timeout(STATEMENT_SECONDS), self._readers.connection(READ_SECONDS) as connection:
                    return await query(connection)
            except (PoolTimeout, *LOST) as error:
                if not patient and loop.time() > give_up:
                    raise JournalStalled(explain(error)) from error
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)


def _query_of(text: str) -> str:
    """Plain words, the last of which may go on, in the language of the full text."""
    return " & ".join(f"'{word[:TERM_CHARACTERS]}'" for word in text.split()) + ":*"


def _event(task_id: str, seq: int, at: str, body: str, cursor: int) -> StoredEvent:
    return rows.stored(body, rows.type_of(body), task_id, seq, at, cursor)
