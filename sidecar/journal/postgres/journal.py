"""The journal in a PostgreSQL database: written and followed by several processes."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from functools import partial
from typing import TypeVar

import psycopg
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from sidecar.journal import rows
from sidecar.journal.blobs import unpack
from sidecar.journal.errors import (
    CannotOpen,
    CursorLost,
    JournalClosed,
    JournalStalled,
    LeaseLost,
    QueueFull,
    UnknownTask,
    WrongStatus,
)
from sidecar.journal.port import (
    DEFAULT_POOL,
    LEFT_OPEN,
    PRIORITIES,
    Claim,
    Entry,
    EventsPage,
    NewTask,
    Page,
    Record,
    Retention,
    StoredEvent,
)
from sidecar.journal.postgres.connection import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    LOST,
    SCHEMA,
    STATEMENT_SECONDS,
    address,
    connect,
    explain,
    shown,
    without_zeros,
)
from sidecar.journal.postgres.contents import Packed, RecentContents, digest_of
from sidecar.journal.postgres.live import LiveRelay
from sidecar.journal.postgres.schema import migrate
from sidecar.journal.postgres.signals import Signals
from sidecar.journal.postgres.store import Append, Head, Rows
from sidecar.journal.postgres.writer import Writer
from sidecar.journal.projection import TaskProjection, task_of
from sidecar.journal.sqlite import PRUNE_EVERY_BYTES
from sidecar.journal.store import Pending
from sidecar.journal.tail import Hub
from sidecar.journal.words import plain, terms_of
from sidecar.wire.events import Event, StatusEvent
from sidecar.wire.system import JournalState
from sidecar.wire.tasks import Status, StoredRequest, Task

log = logging.getLogger(__name__)

T = TypeVar("T")
Connection = psycopg.AsyncConnection[TupleRow]
READERS = 4
#: How long a request waits to read from a database that is away.
READ_SECONDS = 5.0
CHECK_SECONDS = 2.0
RECONNECT_SECONDS = 2.0
_CLAIMABLE = frozenset({Status.QUEUED, Status.CANCELLING})
_CHANGED = "SELECT DISTINCT tasks.id FROM events JOIN tasks ON tasks.position = events.task WHERE cursor > %s LIMIT %s"
_MAX_CHANGED = 1_000
_TASK = "position, id, created_at, request, state, last_seq"


class PostgresJournal:
    """Build it with `await PostgresJournal.open(url)`."""

    def __init__(
        self,
        url: str,
        conninfo: str,
        schema: str,
        retention: Retention,
        pools: Sequence[str] | None,
        claims_expired: bool,
    ) -> None:
        self.schema = schema
        self._url = url
        self.conninfo = conninfo
        self._retention = retention
        self._pools = None if pools is None else list(pools)
        self._hub = Hub(shared=True)
        self.writer = Writer(conninfo)
        self._readers: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            conninfo,
            min_size=1,
            max_size=READERS,
            timeout=READ_SECONDS,
            open=False,
            kwargs={"autocommit": True},
            # The pool waits longer and longer between tries; each read begins them anew.
            reconnect_timeout=RECONNECT_SECONDS,
        )
        self._contents = RecentContents()
        self._grown = self._size = 0
        self._clock_offset = 0.0
        #: Otherwise the leader queues them again.
        self._claims_expired = claims_expired
        self.writer.tasks.on_elsewhere = lambda task_id: self._written_elsewhere([task_id], False)
        self._closed = False
        #: Called when another process wrote to these tasks, or to any; and whether one of them may be claimed.
        self.on_written_elsewhere: Callable[[Collection[str] | None, bool], None] = lambda task_ids, queued: None
        #: All events up to this cursor were looked at.
        self._looked = 0
        self._looking: asyncio.Task[None] | None = None
        self._look_again = False
        hub = self._hub
        self._relay = LiveRelay(
            schema, self.writer.id, self._notify, hub.show_live, hub.drop_stored, hub.drop_live, hub.live_text
        )
        hub.on_live = self._relay.offer
        self._signals = Signals(
            conninfo, schema, self.writer.id, self._written_elsewhere, self._newest_change, self._notify, self._relay
        )

    @classmethod
    async def open(
        cls,
        url: str,
        retention: Retention | None = None,
        *,
        schema: str = SCHEMA,
        pools: Sequence[str] | None = None,
        claims_expired: bool = True,
    ) -> "PostgresJournal":
        """`pools` are those that it claims tasks of; `None` for all."""
        try:
            conninfo = address(url, schema)
            connection = await connect(conninfo)
            try:
                await migrate(connection, schema)
            finally:
                await connection.close()
        except (psycopg.Error, *LOST) as error:
            raise CannotOpen(
                f"The database {shown(url)} can't be used: {str(error).strip() or type(error).__name__}. "
                "Check BRAIN_DATABASE_URL, or unset it to keep tasks in a local file."
            ) from error
        journal = cls(url, conninfo, schema, retention or Retention(), pools, claims_expired)
        await journal._readers.open()
        await journal.set_clock()
        ((journal._looked,),) = await journal.query("SELECT settled FROM settled_cursor()")
        return journal

    # -- writing -----------------------------------------------------------------------------------------------------

    def create(self, new: NewTask, *, max_queued: int | None = None) -> Awaitable[tuple[Task, bool]]:
        entry = Entry.now(new.events, new.records)
        creating = self.writer.submit(
            partial(self._create, new, _render(entry), max_queued),
            on_commit=lambda made: self._published(new.id, [entry], made[2]),
        )
        return _without_events(creating)

    async def _create(
        self, new: NewTask, pending: Pending, max_queued: int | None
    ) -> tuple[Task, bool, Sequence[StoredEvent]]:
        columns = Rows()
        state = columns.add([pending], TaskProjection(), 0)
        request = new.request
        arguments = (
            new.id,
            None if new.idempotency_key is None else without_zeros(new.idempotency_key),
            max_queued,
            pending.at,
            without_zeros(request.conversation_id),
            PRIORITIES[request.options.priority],
            request.options.pool or DEFAULT_POOL,
            request.to_json(),
            state.status,
            state.to_json(),
            without_zeros(request.workspace),
            state.pinned,
            state.archived,
            pending.size,
            *columns.lists(),
        )
        match await self.writer.call("create_task", arguments):
            case ["new", position, cursors]:
                head = Head(position, len(pending.events), len(pending.records), 0, state)
                self.writer.tasks.keep(new.id, head)
                stored = [
                    rows.stored(body, event.type, new.id, seq, pending.at, cursor)
                    for seq, ((event, body), cursor) in enumerate(zip(pending.events, cursors, strict=True), start=1)
                ]
                return task_of(new.id, pending.at, request, state, head.last_seq), True, stored
            case ["known", task_id]:
                return await self.task(task_id), False, ()
            case _:
                raise QueueFull(max_queued or 0)

    def append(
        self,
        task_id: str,
        events: Sequence[Event] = (),
        records: Sequence[Record] = (),
        *,
        sync: bool = False,
        fence: int | None = None,
        when: Collection[Status] | None = None,
        earlier: Sequence[Entry] = (),
        alone: bool = False,
    ) -> asyncio.Future[Sequence[StoredEvent]]:
        """Always waits for the disk: a database that is stopped at once loses what it was only told."""
        entries = [*earlier, Entry.now(events, records)] if events or records else earlier
        pending = [_render(entry) for entry in entries]
        self._grow(sum(each.size for each in pending))
        self._hub.begin(task_id)
        return self.writer.append(
            Append(task_id, pending, fence, when, alone),
            patient=fence is not None,
            on_commit=partial(self._published, task_id, entries),
            on_end=partial(self._hub.end, task_id),
        )

    def _published(self, task_id: str, entries: Sequence[Entry], stored: Sequence[StoredEvent]) -> None:
        if stored:
            self._hub.publish(entries, stored)
        events = [event for entry in entries for event in entry.events]
        self._relay.written(task_id, events)
        queued = any(isinstance(event, StatusEvent) and event.status in _CLAIMABLE for event in events)
        self._signals.written(task_id, queued=queued)

    def followed(self, task_id: str) -> bool:
        return self._hub.followed(task_id) or self._relay.wanted(task_id)

    def publish(self, task_id: str, event: Event) -> None:
        self._hub.publish_live(task_id, event)

    async def claim(self, owner: str, now: float, lease: float) -> Claim | None:
        which = "any" if self._claims_expired else "free"
        return await self.writer.submit(partial(self._claim, owner, now, lease, time.monotonic(), which), patient=True)

    async def _claim(self, owner: str, now: float, lease: float, asked: float, which: str) -> Claim | None:
        until = now + lease + time.monotonic() - asked
        found = await self.writer.call(
            "claim_task", (owner, now, until, None if which == "expired" else self._pools, which)
        )
        if found is None:
            return None
        task_id, position, last_seq, count, fence, state, request, more = found
        head = Head.of(position, last_seq, count, fence, state)
        self.writer.tasks.keep(task_id, head)
        stored = StoredRequest.model_validate_json(request)
        # Patiently: the task is claimed, and if nobody ran it, it would wait until the claim expires.
        records = await self._records(task_id, patient=True) if count else ()
        return Claim(task_id, owner, fence, head.state.status, stored, records, more=more)

    async def renew(self, task_id: str, fence: int, now: float, lease: float) -> None:
        asked = time.monotonic()

        async def write() -> None:
            until = now + lease + time.monotonic() - asked
            query = (
                "WITH renewed AS (UPDATE tasks SET lease_until = %s WHERE id = %s AND fence = %s"
                " AND lease_owner IS NOT NULL) SELECT fence FROM tasks WHERE id = %s"
            )
            present = await self.writer.value(query, (until, task_id, fence, task_id))
            if present != fence:
                raise LeaseLost(task_id)

        await self.writer.submit(write, patient=True)

    async def release(self, task_id: str) -> None:
        query = "UPDATE tasks SET lease_owner = NULL, lease_until = NULL WHERE id = %s RETURNING true"
        await self.writer.submit(lambda: self.writer.value(query, (task_id,)))
        self._signals.written(task_id, queued=True)

    def put_blob(self, task_id: str, data: bytes, like: str | None = None, *, capped: bool = True) -> Awaitable[str]:
        self._grow(len(data) // (2 if like is None else 16))
        return self.writer.submit(partial(self._put_blob, task_id, data, like, capped), patient=True)

    async def _put_blob(self, task_id: str, data: bytes, like: str | None, capped: bool) -> str:
        digest = digest_of(data)
        cap = self._retention.task_bytes if capped else None

        async def put(packed: Packed) -> str:
            arguments = (task_id, digest, len(data), packed.data, packed.base, packed.depth, cap)
            answer: str = await self.writer.value("SELECT put_content(%s, %s, %s, %s, %s, %s, %s)", arguments)
            if answer == "kept":
                self._contents.keep(digest, data, packed.depth)
            return answer

        answer = await put(self._contents.pack(data, like))
        if answer == "base":
            answer = await put(self._contents.pack(data, None))
        if answer == "unknown":
            raise UnknownTask(task_id)
        return digest

    async def prune(self) -> int:
        dropped, contents = 0, 0
        while any(some := await self._prune_some()):
            dropped, contents = dropped + some[0], contents + some[1]
        if dropped or contents:
            log.info("The journal dropped %d old tasks, and the contents for undo of %d more.", dropped, contents)
        return dropped

    async def _prune_some(self) -> tuple[int, int]:
        cutoff = self._retention.cutoff()

        async def prune(connection: Connection) -> tuple[int, int]:
            cursor = await connection.execute(
                "SELECT tasks_dropped, contents_dropped, journal_size() FROM prune(%s, %s)",
                (cutoff, self._retention.bytes),
            )
            row = await cursor.fetchone()
            assert row is not None
            self._size = row[2]
            return row[0], row[1]

        return await self._read(prune)

    async def delete(self, task_id: str) -> None:
        answer = await self.writer.submit(lambda: self.writer.value("SELECT delete_task(%s)", (task_id,)))
        self.writer.tasks.forget(task_id)
        if answer == "unknown":
            raise UnknownTask(task_id)
        if answer != "deleted":
            raise WrongStatus(task_id, Status(answer))

    def _grow(self, size: int) -> None:
        self._grown += size
        if self._grown > PRUNE_EVERY_BYTES:
            self._grown = 0
            self._pruning = asyncio.create_task(self.prune())
            self._pruning.add_done_callback(lambda done: done.cancelled() or done.exception())

    # -- reading -----------------------------------------------------------------------------------------------------

    async def tail(self, task_id: str, after: int = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        with self._relay.following(task_id):
            async with aclosing(self._hub.tail(task_id, after, self._followed_events)) as batches:
                async for batch in batches:
                    yield batch

    async def _followed_events(self, task_id: str, after: int, limit: int) -> Page:
        page = await self._events(task_id, after, limit, patient=True)
        self._relay.seen(task_id, page.events)
        return page

    async def events(self, task_id: str, after: int = 0, limit: int = 500) -> Page:
        return await self._events(task_id, after, limit)

    async def _events(self, task_id: str, after: int, limit: int, *, patient: bool = False) -> Page:
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

    def tail_all(self, after: int | None = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        return self._hub.tail_all(after, partial(self._all_events, patient=True))

    async def all_events(self, after: int | None = 0, limit: int = 500, *, skip_pruned: bool = False) -> EventsPage:
        return await self._all_events(after, limit, skip_pruned=skip_pruned)

    async def _all_events(
        self, after: int | None, limit: int, *, patient: bool = False, skip_pruned: bool = False
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

        return await self._read(read, patient=patient)

    async def records(self, task_id: str) -> Sequence[Record]:
        return await self._records(task_id)

    async def _records(self, task_id: str, *, patient: bool = False) -> Sequence[Record]:
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
        self,
        *,
        statuses: Collection[Status] = (),
        conversation: str | None = None,
        workspaces: Collection[str] = (),
        words: str = "",
        pinned: bool | None = None,
        archived: bool | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> Sequence[Task]:
        terms = terms_of(words)
        if words.strip() and not terms:
            return []
        conditions: list[str] = ["true"]
        values: list[object] = []
        for column, wanted in (("status", statuses), ("workspace", workspaces)):
            if wanted:
                conditions.append(f"{column} = ANY (%s)")
                values.append([without_zeros(each) for each in wanted])
        for column, flag in (("pinned", pinned), ("archived", archived)):
            if flag is not None:
                conditions.append(column if flag else f"NOT {column}")
        if conversation is not None:
            conditions.append("conversation = %s")
            values.append(without_zeros(conversation))
        if before is not None:
            conditions.append("position < (SELECT position FROM tasks WHERE id = %s)")
            values.append(without_zeros(before))
        for term in terms:
            conditions.append("position IN (SELECT task FROM events WHERE words LIKE %s)")
            # Plain words have no character that LIKE gives a meaning.
            values.append(f"% {plain(term)}%")
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
            "SELECT id FROM tasks WHERE position IN (SELECT task FROM records WHERE kind = 'undo') ORDER BY position"
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

        return await self._read(read, patient=patient)

    async def _read(self, query: Callable[[Connection], Awaitable[T]], *, patient: bool = False) -> T:
        """A follower waits for a database that is away; a request gives up."""
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

    # -- other processes ---------------------------------------------------------------------------------------------

    def clock(self) -> float:
        """The time of the database, for leases that workers on several machines compare."""
        return time.monotonic() + self._clock_offset

    async def set_clock(self) -> None:
        before = time.monotonic()
        ((now,),) = await self.query("SELECT extract(epoch FROM clock_timestamp())::double precision")
        self._clock_offset = now - (before + time.monotonic()) / 2

    async def claimed(self, task_id: str) -> bool:
        """Whether a worker holds the task, or held it when it died."""
        return bool(await self.query("SELECT FROM tasks WHERE id = %s AND lease_owner IS NOT NULL", (task_id,)))

    async def refresh(self, task_id: str) -> tuple[Sequence[Record], Status]:
        """All records and the status: what other processes wrote so far counts as read."""
        self.writer.tasks.elsewhere.discard(task_id)
        status = (await self.task(task_id)).status
        return await self.records(task_id), status

    async def claim_expired(self, owner: str, now: float, lease: float) -> Claim | None:
        """A task whose worker let its lease expire; from now on that worker can't write."""
        return await self.writer.submit(
            partial(self._claim, owner, now, lease, time.monotonic(), "expired"), patient=True
        )

    def _written_elsewhere(self, task_ids: Collection[str] | None, queued: bool) -> None:
        if task_ids is not None:
            self._hub.written_elsewhere(task_ids)
        elif self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="journal-look")
        else:
            self._look_again = True
        self.on_written_elsewhere(task_ids, queued)

    async def _look(self) -> None:
        """Find the tasks that others wrote to since the last look; all readers at once would be too many."""
        while True:
            self._look_again = False
            ((settled,),) = await self.query("SELECT settled FROM settled_cursor()", patient=True)
            found = await self.query(_CHANGED, (self._looked, _MAX_CHANGED + 1), patient=True)
            self._looked = settled
            self._hub.written_elsewhere([row[0] for row in found] if len(found) <= _MAX_CHANGED else None)
            if not self._look_again:
                return

    async def _newest_change(self) -> int:
        # Records, such as answers, have no cursor; every writer counts its writes.
        found = await self.query("SELECT newest_cursor() + coalesce((SELECT sum(number) FROM writers), 0)::bigint")
        return int(found[0][0])

    async def _notify(self, channel: str, payload: str) -> None:
        # Nobody waits for it, and it holds a lock that all notifications share: it needn't reach the disk.
        await self.query("SELECT set_config('synchronous_commit', 'off', true), pg_notify(%s, %s)", (channel, payload))

    # -- state -------------------------------------------------------------------------------------------------------

    async def check(self) -> None:
        if self.writer.stalled:
            raise JournalStalled(self.writer.stalled)
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                (row,) = await self.query("SELECT pg_is_in_recovery()")
        except TimeoutError as error:
            raise JournalStalled(explain(error)) from error
        if row[0]:
            raise JournalStalled(
                "The database is a standby and takes no writes. Point BRAIN_DATABASE_URL at the primary."
            )

    def state(self) -> JournalState:
        return JournalState(
            state="stalled" if self.writer.stalled else "ok",
            message=self.writer.stalled,
            path=shown(self._url),
            size_bytes=self._size,
            set_aside=[],
        )

    def fail_fast(self) -> None:
        self.writer.fail_fast()

    async def close(self) -> None:
        self._closed = True
        await self.writer.close()
        await self._signals.close()
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        await self._relay.close()
        await self._readers.close(timeout=1)


def _render(entry: Entry) -> Pending:
    return Pending(entry.at, [(event, event.to_json()) for event in entry.events], entry.records)


async def _without_events(creating: Awaitable[tuple[Task, bool, Sequence[StoredEvent]]]) -> tuple[Task, bool]:
    task, is_new, _ = await creating
    return task, is_new


def _event(task_id: str, seq: int, at: str, body: str, cursor: int) -> StoredEvent:
    return rows.stored(body, rows.type_of(body), task_id, seq, at, cursor)
