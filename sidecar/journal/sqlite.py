"""The journal in one SQLite file: written by one thread, read by others, followed in this process."""

import asyncio
import logging
import os
import sqlite3
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from sidecar.journal import damage, rows
from sidecar.journal.blobs import read_blob
from sidecar.journal.commit_log import TaskEnd
from sidecar.journal.errors import CannotOpen, CursorLost, JournalStalled, UnknownTask
from sidecar.journal.port import (
    ALL_TASKS,
    LEFT_OPEN,
    Claim,
    Entry,
    EventsPage,
    NewTask,
    Page,
    Record,
    Retention,
    StoredEvent,
    TaskFilter,
)
from sidecar.journal.store import Pending, Store, connect, read_records
from sidecar.journal.tail import Hub
from sidecar.journal.words import MATCHES, WordIndex, match, terms_of
from sidecar.journal.writer import Writer
from sidecar.wire.events import ErrorEvent, Event, StatusEvent
from sidecar.wire.health import JournalState
from sidecar.wire.tasks import Status, StoredRequest, Task

log = logging.getLogger(__name__)

T = TypeVar("T")
READERS = 2
PRUNE_EVERY_BYTES = 16 * 1024 * 1024
#: A journal on a disk with less than this soon can't be written.
_LEAST_FREE_BYTES = 65_536


class SqliteJournal:
    """Build it with `await SqliteJournal.open(path)`."""

    def __init__(self, path: Path, retention: Retention, set_aside: list[str]) -> None:
        self._path = path
        self._retention = retention
        self._set_aside = set_aside
        self._hub = Hub()
        self._writer = Writer(partial(Store, path), asyncio.get_running_loop())
        self._local = threading.local()
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="journal-reader")
        self._connections: list[sqlite3.Connection] = []
        # Its own thread: indexing after a long time must not delay other readers.
        self._words = WordIndex(path)
        self._searcher = ThreadPoolExecutor(1, thread_name_prefix="journal-words")
        self._grown = 0

    @classmethod
    async def open(cls, path: Path, retention: Retention | None = None) -> "SqliteJournal":
        try:
            inspection = damage.inspect(path)
            journal = cls(path, retention or Retention(), inspection.messages)
        except sqlite3.Error as error:
            raise CannotOpen(f"The journal {path} can't be opened: {error}. Nothing was changed.") from error
        for task_id, end in inspection.cut.items():
            await journal.append(task_id, _cut_short(end))
        return journal

    # -- writing -----------------------------------------------------------------------------------------------------

    def create(self, new: NewTask, *, max_queued: int | None = None) -> Awaitable[tuple[Task, bool]]:
        pending = Pending.of(Entry.now(new.events, new.records))
        entry = Entry(pending.at, new.events)
        creating = self._writer.submit(
            lambda store: store.create(new, pending, max_queued),
            on_commit=lambda made: self._publish_new(entry, made[1]),
        )
        return _is_new(creating)

    def _publish_new(self, entry: Entry, stored: Sequence[StoredEvent]) -> None:
        if stored:
            self._hub.publish([entry], stored)

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
        entries = Entry.appended(earlier, events, records)
        pending = [Pending.of(entry) for entry in entries]
        self._grow(sum(each.size for each in pending))
        self._hub.begin(task_id)
        return self._writer.submit(
            lambda store: store.append(task_id, pending, fence, when),
            sync=sync,
            patient=fence is not None,
            on_commit=partial(self._hub.publish, entries),
            on_end=partial(self._hub.end, task_id),
        )

    def followed(self, task_id: str) -> bool:
        return self._hub.followed(task_id)

    def publish(self, task_id: str, event: Event) -> None:
        self._hub.publish_live(task_id, event)

    async def claim(self, owner: str, now: float, lease: float) -> Claim | None:
        waited = _stopwatch()
        return await self._writer.submit(lambda store: store.claim(owner, now, lease + waited()), patient=True)

    async def renew(self, task_id: str, fence: int, now: float, lease: float) -> None:
        waited = _stopwatch()
        await self._writer.submit(lambda store: store.renew(task_id, fence, now, lease + waited()), patient=True)

    async def release(self, task_id: str) -> None:
        await self._writer.submit(lambda store: store.release_claim(task_id))

    def put_blob(self, task_id: str, data: bytes, like: str | None = None, *, capped: bool = True) -> Awaitable[str]:
        self._grow(len(data) // (2 if like is None else 16))
        limit = self._retention.task_bytes if capped else None
        return self._writer.submit(lambda store: store.put_blob(task_id, data, like, limit), patient=True)

    async def prune(self) -> int:
        dropped, contents = 0, 0
        while any(some := await self._writer.submit(lambda store: store.prune(self._retention))):
            dropped, contents = dropped + some.tasks, contents + some.contents
        if dropped or contents:
            log.info(
                "The journal dropped %d old tasks, and the contents for undo of %d more, to stay within its limits.",
                dropped,
                contents,
            )
        return dropped

    async def delete(self, task_id: str) -> None:
        await self._writer.submit(lambda store: store.delete(task_id))
        await self._search(self._words.forget)

    def _grow(self, size: int) -> None:
        self._grown += size
        if self._grown > PRUNE_EVERY_BYTES:
            self._grown = 0
            self._writer.submit(lambda store: store.prune(self._retention))

    # -- reading -----------------------------------------------------------------------------------------------------

    def tail(self, task_id: str, after: int = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        return self._hub.tail(task_id, after, self.events)

    async def events(self, task_id: str, after: int = 0, limit: int = 500) -> Page:
        return await self._read(partial(_read_page, task_id, after, limit))

    def tail_all(self, after: int | None = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        return self._hub.tail_all(after, self.all_events)

    async def all_events(self, after: int | None = 0, limit: int = 500, *, skip_pruned: bool = False) -> EventsPage:
        return await self._read(partial(_read_all, after, limit, skip_pruned))

    async def records(self, task_id: str) -> Sequence[Record]:
        def read(connection: sqlite3.Connection) -> Sequence[Record]:
            return read_records(connection, _position(connection, task_id))[0]

        return await self._read(read)

    async def task(self, task_id: str) -> Task:
        (task,) = await self._read(partial(_read_tasks, "id = ?", (task_id,), "")) or (None,)
        if task is None:
            raise UnknownTask(task_id)
        return task

    async def find_by_key(self, idempotency_key: str) -> str | None:
        def read(connection: sqlite3.Connection) -> str | None:
            row = connection.execute("SELECT id FROM tasks WHERE idempotency_key = ?", (idempotency_key,)).fetchone()
            return None if row is None else str(row[0])

        return await self._read(read)

    async def request(self, task_id: str) -> StoredRequest:
        def read(connection: sqlite3.Connection) -> StoredRequest:
            row = connection.execute("SELECT request FROM tasks WHERE id = ?", (task_id,)).fetchone()
            if row is None:
                raise UnknownTask(task_id)
            return StoredRequest.model_validate_json(row[0])

        return await self._read(read)

    async def tasks(
        self, wanted: TaskFilter = ALL_TASKS, *, limit: int = 50, before: str | None = None
    ) -> Sequence[Task]:
        conditions: list[str] = ["true"]
        values: list[object] = []
        for column, allowed in (("status", wanted.statuses), ("workspace", wanted.workspaces)):
            if allowed:
                conditions.append(f"{column} IN ({', '.join('?' * len(allowed))})")
                values += allowed
        for column, flag in (("pinned", wanted.pinned), ("archived", wanted.archived)):
            if flag is not None:
                conditions.append(column if flag else f"NOT {column}")
        if wanted.conversation is not None:
            conditions.append("conversation = ?")
            values.append(wanted.conversation)
        if before is not None:
            conditions.append("position < (SELECT position FROM tasks WHERE id = ?)")
            values.append(before)
        terms = terms_of(wanted.words)
        if wanted.words.strip() and not terms:
            return []
        matches = [match(term) for term in terms]
        if wanted.any_word and matches:
            matches = [" OR ".join(matches)]
        conditions += [MATCHES] * len(matches)
        values += matches
        query = partial(_read_tasks, " AND ".join(conditions), tuple(values), f"ORDER BY position DESC LIMIT {limit}")
        return await (self._search(lambda: self._words.read(query)) if terms else self._read(query))

    async def _search(self, act: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._searcher, act)

    async def counts(self) -> dict[Status, int]:
        def read(connection: sqlite3.Connection) -> dict[Status, int]:
            found = connection.execute("SELECT status, count(*) FROM tasks GROUP BY status")
            return {Status(status): count for status, count in found}

        return await self._read(read)

    async def left_open(self, owner: str) -> Sequence[Task]:
        condition = (
            f"(status IN ({', '.join('?' * len(LEFT_OPEN))}) AND lease_owner IS NOT ?)"
            " OR (status = ? AND lease_owner IS NOT NULL AND lease_owner != ?)"
        )
        values = (*LEFT_OPEN, owner, Status.QUEUED, owner)
        return await self._read(partial(_read_tasks, condition, values, "ORDER BY position"))

    async def tasks_with_undo(self) -> Sequence[str]:
        def read(connection: sqlite3.Connection) -> list[str]:
            undone = "SELECT task FROM records WHERE kind = 'undo'"
            found = connection.execute(f"SELECT id FROM tasks WHERE position IN ({undone}) ORDER BY position")  # noqa: S608
            return [task_id for (task_id,) in found]

        return await self._read(read)

    async def blob(self, digest: str) -> bytes | None:
        return await self._read(partial(read_blob, digest))

    async def _read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._with_connection, query)

    def _with_connection(self, query: Callable[[sqlite3.Connection], T]) -> T:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect(self._path)
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA cache_size = -1024")  # pages are read once, in order
            self._connections.append(connection)
        return query(connection)

    # -- state -------------------------------------------------------------------------------------------------------

    async def check(self) -> None:
        if self._writer.stalled:
            raise JournalStalled(self._writer.stalled)
        if problem := await asyncio.to_thread(_disk_problem, self._path):
            raise JournalStalled(problem)

    def state(self) -> JournalState:
        size = sum(part.stat().st_size for suffix in ("", "-wal") if (part := Path(f"{self._path}{suffix}")).exists())
        return JournalState(
            state="stalled" if self._writer.stalled else "ok",
            message=self._writer.stalled,
            path=str(self._path),
            size_bytes=size,
            set_aside=self._set_aside,
        )

    def fail_fast(self) -> None:
        self._writer.fail_fast()

    async def close(self) -> None:
        self._readers.shutdown(wait=True)
        self._searcher.shutdown(wait=True, cancel_futures=True)
        self._words.close()
        for connection in self._connections:
            connection.close()
        await self._writer.close()


def _disk_problem(journal: Path) -> str:
    """Why the next write to the journal would fail or be lost, if it would."""
    if not journal.exists():
        return f"{journal} is gone: someone removed the journal while it was open. Restart the sidecar (`brain stop`)."
    try:
        disk = os.statvfs(journal.parent)
    except OSError as error:
        return f"The data directory can't be read: {error.strerror}."
    if disk.f_flag & os.ST_RDONLY:
        return "The disk of the data directory is read-only; mount it writable."
    if disk.f_bavail * disk.f_frsize < _LEAST_FREE_BYTES:
        return "The disk of the data directory is full; make room on it."
    return ""


def _cut_short(end: TaskEnd) -> list[Event]:
    """A task that lost events could do something twice, so it ends here."""
    message = (
        f"The newest events of this task were lost with a damaged journal; it was {end.status} then. It doesn't go on, "
        "because it could do something twice. Its files are as it left them; start it again as a new task."
    )
    error = ErrorEvent(code="journal_damaged", message=message, recoverable=False)
    return [error, StatusEvent(status=Status.FAILED)]


def _stopwatch() -> Callable[[], float]:
    """A lease starts when it is written, so a stalled disk doesn't cost a claim."""
    started = time.monotonic()
    return lambda: time.monotonic() - started


def _position(connection: sqlite3.Connection, task_id: str) -> int:
    row = connection.execute("SELECT position FROM tasks WHERE id = ?", (task_id,)).fetchone()
    if row is None:
        raise UnknownTask(task_id)
    position: int = row[0]
    return position


def _read_page(task_id: str, after: int, limit: int, connection: sqlite3.Connection) -> Page:
    # One transaction: the events, the newest number and the status belong to the same moment.
    connection.execute("BEGIN")
    try:
        row = connection.execute(
            "SELECT position, status, (SELECT coalesce(max(seq), 0) FROM events WHERE task = position)"
            " FROM tasks WHERE id = ?",
            (task_id,),
        ).fetchone()
        if row is None:
            raise UnknownTask(task_id)
        position, status, last_seq = row
        found = connection.execute(
            "SELECT seq, CAST(at AS BLOB), CAST(body AS BLOB), checksum, cursor FROM events"
            " WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?",
            (position, after, limit),
        )
        events = rows.page_of(rows.event_of(event, task_id) for event in found)
        found.close()
    finally:
        connection.execute("COMMIT")
    return Page(events, last_seq, Status(status))


def _read_all(after: int | None, limit: int, skip_pruned: bool, connection: sqlite3.Connection) -> EventsPage:
    connection.execute("BEGIN")
    try:
        last, pruned = connection.execute("SELECT cursor, pruned FROM commits").fetchone()
        if after is None:
            return EventsPage((), last)
        if after and ((after < pruned and not skip_pruned) or after > last):
            raise CursorLost(after)
        found = connection.execute(
            "SELECT tasks.id, seq, CAST(at AS BLOB), CAST(body AS BLOB), checksum, cursor FROM events"
            " JOIN tasks ON tasks.position = events.task WHERE cursor > ? ORDER BY cursor LIMIT ?",
            (after, limit),
        )
        events = rows.page_of(rows.event_of(tuple(row[1:]), row[0]) for row in found)
        found.close()
    finally:
        connection.execute("COMMIT")
    return EventsPage(events, last)


async def _is_new(creating: Awaitable[tuple[Task, Sequence[StoredEvent]]]) -> tuple[Task, bool]:
    task, stored = await creating
    return task, bool(stored)


def _read_tasks(condition: str, values: tuple[object, ...], ending: str, connection: sqlite3.Connection) -> list[Task]:
    found = connection.execute(f"SELECT {rows.TASK_COLUMNS} FROM tasks WHERE {condition} {ending}", values)  # noqa: S608
    return [rows.task_from(row) for row in found]
