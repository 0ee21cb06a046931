"""The journal in a PostgreSQL database: written and followed by several processes."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from functools import partial
from typing import TypeVar

import psycopg

from sidecar.journal import rows
from sidecar.journal.errors import (
    CannotOpen,
    JournalStalled,
    LeaseLost,
    QueueFull,
    UnknownTask,
    WrongStatus,
)
from sidecar.journal.port import (
    DEFAULT_POOL,
    PRIORITIES,
    Claim,
    Entry,
    NewTask,
    Page,
    Record,
    Retention,
    StoredEvent,
)
from sidecar.journal.postgres.connection import (
    LOST,
    SCHEMA,
    address,
    connect,
    explain,
    first_line,
    shown,
    without_zeros,
)
from sidecar.journal.postgres.contents import Contents
from sidecar.journal.postgres.live import LiveRelay
from sidecar.journal.postgres.reading import JournalReader
from sidecar.journal.postgres.schema import migrate
from sidecar.journal.postgres.signals import Signals
from sidecar.journal.postgres.store import Append, Head, Rows
from sidecar.journal.postgres.writer import Writer
from sidecar.journal.projection import TaskProjection, task_of
from sidecar.journal.sqlite import PRUNE_EVERY_BYTES
from sidecar.journal.store import Pending
from sidecar.journal.tail import Hub
from sidecar.wire.events import Event
from sidecar.wire.health import JournalState
from sidecar.wire.tasks import Status, StoredRequest, Task

log = logging.getLogger(__name__)

T = TypeVar("T")
CHECK_SECONDS = 2.0
_CHANGED = "SELECT DISTINCT tasks.id FROM events JOIN tasks ON tasks.position = events.task WHERE cursor > %s LIMIT %s"
_MAX_CHANGED = 1_000
#: A worker with a heartbeat this recent gets more time to renew an expired claim.
_DEAD_SECONDS, _PATIENCE_SECONDS = 15.0, 1.0


class PostgresJournal(JournalReader):
    """Build it with `await PostgresJournal.open(url)`."""

    def __init__(self, url: str, conninfo: str, schema: str, retention: Retention) -> None:
        super().__init__(conninfo)
        self.schema = schema
        self._url = url
        self.conninfo = conninfo
        self._retention = retention
        self._hub = Hub(shared=True)
        self.writer = Writer(conninfo)
        self._contents = Contents(self.writer)
        self._grown = self._size = 0
        self._clock_offset = 0.0
        self.writer.tasks.on_elsewhere = lambda task_id: self._written_elsewhere([task_id])
        #: Called when another process wrote to these tasks, or to any.
        self.on_written_elsewhere: Callable[[Collection[str] | None], None] = lambda task_ids: None
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
    async def open(cls, url: str, retention: Retention | None = None, *, schema: str = SCHEMA) -> "PostgresJournal":
        try:
            conninfo = address(url, schema)
            connection = await connect(conninfo)
            try:
                await migrate(connection, schema)
            finally:
                await connection.close()
        except (psycopg.Error, *LOST) as error:
            raise CannotOpen(
                f"The database {shown(url)} can't be used: {first_line(error)}. "
                "Check BRAIN_DATABASE_URL, or unset it to keep tasks in a local file."
            ) from error
        journal = cls(url, conninfo, schema, retention or Retention())
        await journal._readers.open()
        await journal.set_clock()
        ((journal._looked,),) = await journal.query("SELECT settled FROM settled_cursor()")
        return journal

    # -- writing -----------------------------------------------------------------------------------------------------

    def create(self, new: NewTask, *, max_queued: int | None = None) -> Awaitable[tuple[Task, bool]]:
        entry = Entry.now(new.events, new.records)
        creating = self.writer.submit(
            partial(self._create, new, Pending.of(entry), max_queued),
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
        """Always waits for the disk: a database that is stopped at once loses what isn't on its disk."""
        entries = Entry.appended(earlier, events, records)
        pending = [Pending.of(entry) for entry in entries]
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
        self._signals.written(task_id)

    def followed(self, task_id: str) -> bool:
        return self._hub.followed(task_id) or self._relay.wanted(task_id)

    def publish(self, task_id: str, event: Event) -> None:
        self._hub.publish_live(task_id, event)

    async def claim_named(self, task_id: str, owner: str, now: float, lease: float) -> Claim | None:
        """This task, if it is free."""
        return await self._claim("claim_named", owner, now + lease, task_id)

    async def claim_lost(self, owner: str, now: float, lease: float) -> Claim | None:
        """A task whose worker let its lease expire; from now on that worker can't write."""
        return await self._claim("claim_lost", owner, now + lease, now, _DEAD_SECONDS, _PATIENCE_SECONDS)

    async def _claim(self, function: str, owner: str, until: float, *which: object) -> Claim | None:
        asked = time.monotonic()

        async def claim() -> Claim | None:
            waited = time.monotonic() - asked
            found = await self.writer.call(function, (owner, until + waited, *which))
            return None if found is None else await self._claimed(owner, *found)

        return await self.writer.submit(claim, patient=True)

    async def _claimed(
        self, owner: str, task_id: str, position: int, last_seq: int, count: int, fence: int, state: str, request: str
    ) -> Claim:
        head = Head.of(position, last_seq, count, fence, state)
        self.writer.tasks.keep(task_id, head)
        stored = StoredRequest.model_validate_json(request)
        # Patiently: the task is claimed, and without a run it would wait until the claim expires.
        records = await self.records(task_id, patient=True) if count else ()
        return Claim(task_id, owner, fence, head.state.status, stored, records)

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
        self._signals.written(task_id)

    def put_blob(self, task_id: str, data: bytes, like: str | None = None, *, capped: bool = True) -> Awaitable[str]:
        self._grow(len(data) // (2 if like is None else 16))
        cap = self._retention.task_bytes if capped else None
        return self.writer.submit(partial(self._contents.put, task_id, data, like, cap), patient=True)

    async def prune(self) -> int:
        dropped, contents = 0, 0
        while any(some := await self._prune_some()):
            dropped, contents = dropped + some[0], contents + some[1]
        if dropped or contents:
            log.info("The journal dropped %d old tasks, and the contents for undo of %d more.", dropped, contents)
        return dropped

    async def _prune_some(self) -> tuple[int, int]:
        query = "SELECT tasks_dropped, contents_dropped, journal_size() FROM prune(%s, %s)"
        ((tasks, contents, self._size),) = await self.query(query, (self._retention.cutoff(), self._retention.bytes))
        return tasks, contents

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

    # -- following ---------------------------------------------------------------------------------------------------

    async def tail(self, task_id: str, after: int = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        with self._relay.following(task_id):
            async with aclosing(self._hub.tail(task_id, after, self._followed_events)) as batches:
                async for batch in batches:
                    yield batch

    async def _followed_events(self, task_id: str, after: int, limit: int) -> Page:
        page = await self.events(task_id, after, limit, patient=True)
        self._relay.seen(task_id, page.events)
        return page

    def tail_all(self, after: int | None = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        return self._hub.tail_all(after, partial(self.all_events, patient=True))

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

    def _written_elsewhere(self, task_ids: Collection[str] | None) -> None:
        if task_ids is not None:
            self._hub.written_elsewhere(task_ids)
        elif self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="journal-look")
        else:
            self._look_again = True
        self.on_written_elsewhere(task_ids)

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
        # It isn't awaited, and it holds a lock that all notifications share: it needn't reach the disk.
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


async def _without_events(creating: Awaitable[tuple[Task, bool, Sequence[StoredEvent]]]) -> tuple[Task, bool]:
    task, is_new, _ = await creating
    return task, is_new
