"""The SQLite file, as the writer thread uses it.

A method checks before it writes, so a refused operation changes nothing and its group can go on.
"""

import hashlib
import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sidecar.journal import rows
from sidecar.journal.blobs import Blobs
from sidecar.journal.commit_log import CommitLog, TaskEnd
from sidecar.journal.errors import DuplicateRecord, LeaseLost, QueueFull, UnknownTask, WrongStatus
from sidecar.journal.migrations import MIGRATIONS, migrate
from sidecar.journal.port import PRIORITIES, UNCLAIMED, Claim, Entry, NewTask, Record, Retention, StoredEvent
from sidecar.journal.projection import TaskProjection, fold, task_of
from sidecar.journal.pruning import Pruned, Pruner
from sidecar.wire.events import Event
from sidecar.wire.tasks import ENDED, Status, StoredRequest, Task

log = logging.getLogger(__name__)

_MAX_ROWS = 64
HEADS_KEPT = 1_000


class Pending(NamedTuple):
    """An entry to write, with its events rendered in the caller's thread."""

    at: str
    events: Sequence[tuple[Event, str]]
    records: Sequence[Record]

    @classmethod
    def of(cls, entry: Entry) -> "Pending":
        return cls(entry.at, [(event, event.to_json()) for event in entry.events], entry.records)

    @property
    def size(self) -> int:
        return sum(len(body) for _, body in self.events) + sum(len(record.body) for record in self.records)


@dataclass(slots=True)
class Head:
    """What the writer keeps in memory about a task."""

    position: int
    last_seq: int
    records: int
    fence: int
    state: TaskProjection
    #: Size of the task's blobs, once computed.
    blob_bytes: int | None = None


class InsertBatch:
    """Inserts many rows with one statement: each statement costs two waits for the interpreter lock."""

    def __init__(self, connection: sqlite3.Connection, table: str, columns: int) -> None:
        self._connection = connection
        self._insert = f"INSERT INTO {table} VALUES "  # noqa: S608 a table of ours
        self._row = f"({', '.join('?' * columns)})"
        self._rows: list[Sequence[object]] = []

    def add(self, row: Sequence[object]) -> None:
        self._rows.append(row)

    def flush(self) -> None:
        """Insert all rows, or none."""
        rows, self._rows = self._rows, []
        while rows:
            # A power of two: SQLite keeps a compiled statement for each number of rows.
            count = min(1 << (len(rows).bit_length() - 1), _MAX_ROWS)
            some, rows = rows[:count], rows[count:]
            values = [value for row in some for value in row]
            self._connection.execute(self._insert + ", ".join([self._row] * count), values)

    def clear(self) -> None:
        self._rows = []


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
    connection.execute("PRAGMA busy_timeout = 5000")
    return connection


def open_file(path: Path, format_version: int = len(MIGRATIONS)) -> sqlite3.Connection:
    """Open the file for writing; create it, or migrate it, if need be."""
    connection = connect(path)
    connection.execute("PRAGMA synchronous = NORMAL")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == 0:
        # Only a new file accepts these; on an old one they would cause a write.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA journal_size_limit = 16777216")
    # On macOS a plain fsync does not reach the disk; elsewhere this changes nothing.
    connection.execute("PRAGMA fullfsync = ON")
    migrate(connection, format_version)
    return connection


class Store:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = open_file(path)
        self._blobs = Blobs(self._connection)
        self._events = InsertBatch(self._connection, "events", 6)
        self._records = InsertBatch(self._connection, "records", 7)
        self._heads: OrderedDict[str, Head] = OrderedDict()
        #: Task rows to update once, at the commit.
        self._changed: dict[int, TaskProjection] = {}
        #: The tasks that this transaction changes, for the log of commits.
        self._ends: dict[str, TaskEnd | None] = {}
        #: Whether a commit reaches the disk at once; `open_file` leaves that off.
        self._synced = False
        self._log = CommitLog(path)
        self._before = 0
        self._queue_position: int
        (self._queue_position,) = self._connection.execute("SELECT coalesce(max(queued), 0) FROM tasks").fetchone()
        self.commits: int
        #: The newest cursor and the newest pruned cursor, as committed.
        self._committed: tuple[int, int]
        self.commits, *cursors = self._connection.execute("SELECT number, cursor, pruned FROM commits").fetchone()
        self._cursor, self._pruned = self._committed = cursors[0], cursors[1]

    # -- transactions ------------------------------------------------------------------------------------------------

    def begin(self, *, sync: bool) -> None:
        if sync is not self._synced:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
            self._synced = sync
        self._connection.execute("BEGIN IMMEDIATE")
        self._before = self.changes

    def bind(self) -> None:
        """Insert all appended rows, or refuse them together."""
        try:
            self._records.flush()
        except sqlite3.IntegrityError:
            raise DuplicateRecord from None
        self._events.flush()

    def commit(self, *, proof: bool = False) -> None:
        """`proof` writes even without changes, to test whether the disk accepts writes."""
        for position, state in self._changed.items():
            text = state.to_json()
            self._connection.execute(
                "UPDATE tasks SET state = ?, state_checksum = ? WHERE position = ?",
                (text, rows.checksum(state.status, text), position),
            )
        self._changed.clear()
        if self.changes == self._before and not proof:
            # A read, such as a claim that found nothing, must not touch the disk.
            self._connection.execute("COMMIT")
            return
        self._connection.execute(
            "UPDATE commits SET number = ?, cursor = ?, pruned = ?", (self.commits + 1, self._cursor, self._pruned)
        )
        self._connection.execute("COMMIT")
        self.commits += 1
        self._committed = self._cursor, self._pruned
        self._log_commit()

    def _log_commit(self) -> None:
        ends, self._ends = self._ends, {}
        try:
            self._log.append(self.commits, ends)
            if self._log.full:
                self.checkpoint()
        except OSError as error:
            # The commit holds; only a later damage may go unnoticed.
            log.warning("The log of commits can't be written: %s", error)

    def checkpoint(self) -> None:
        """Copy the write-ahead log into the main file; then the log of commits has nothing to watch."""
        busy, pages, copied = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if not busy and pages == copied:
            self._log.clear()

    def rollback(self) -> None:
        self._connection.execute("ROLLBACK")
        self._changed.clear()
        self._ends.clear()
        self._events.clear()
        self._records.clear()
        self._heads.clear()
        self._blobs.forget()
        self._cursor, self._pruned = self._committed

    @property
    def changes(self) -> int:
        """A counter that grows with every written row."""
        return self._connection.total_changes

    def close(self) -> None:
        self._connection.close()
        wal = Path(f"{self.path}-wal")
        if not wal.exists() or not wal.stat().st_size:
            # The last connection copied everything into the main file.
            self._log.clear()
        self._log.close()

    # -- tasks -------------------------------------------------------------------------------------------------------

    def create(self, new: NewTask, pending: Pending, max_queued: int | None) -> tuple[Task, Sequence[StoredEvent]]:
        """The task and its first events; no events if the idempotency key was known."""
        if new.idempotency_key is not None:
            row = self._connection.execute(
                "SELECT id FROM tasks WHERE idempotency_key = ?", (new.idempotency_key,)
            ).fetchone()
            if row is not None:
                return self.task(row[0]), ()
        if max_queued is not None:
            (queued,) = self._connection.execute(
                "SELECT count(*) FROM tasks WHERE status = ?", (Status.QUEUED,)
            ).fetchone()
            if queued >= max_queued:
                raise QueueFull(max_queued)
        state, request = TaskProjection(), new.request.to_json()
        cursor = self._connection.execute(
            "INSERT INTO tasks"
            " (id, created_at, conversation, idempotency_key, priority, request, request_checksum, status, state,"
            " state_checksum, queued, workspace) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                new.id,
                pending.at,
                new.request.conversation_id,
                new.idempotency_key,
                PRIORITIES[new.request.options.priority],
                request,
                rows.checksum(new.id, pending.at, request),
                state.status,
                state.to_json(),
                rows.checksum(state.status, state.to_json()),
                self._next_queue_position(),
                new.request.workspace,
            ),
        )
        position = cursor.lastrowid or 0
        self._remember(new.id, Head(position, 0, 0, 0, state))
        stored = self.append(new.id, [pending])
        head = self._head(new.id)
        return task_of(new.id, pending.at, new.request, head.state, head.last_seq), stored

    def task(self, task_id: str) -> Task:
        head = self._head(task_id)
        row = self._connection.execute("SELECT created_at, request FROM tasks WHERE id = ?", (task_id,)).fetchone()
        return task_of(task_id, row[0], StoredRequest.model_validate_json(row[1]), head.state, head.last_seq)

    def append(
        self,
        task_id: str,
        pending: Sequence[Pending],
        fence: int | None = None,
        when: Collection[Status] | None = None,
    ) -> Sequence[StoredEvent]:
        head = self._head(task_id)
        if fence is not None and fence != head.fence:
            raise LeaseLost(task_id)
        if when is not None and head.state.status not in when:
            raise WrongStatus(task_id, head.state.status)
        state, seq, number = head.state, head.last_seq, head.records
        stored = []
        for at, events, records in pending:
            for record in records:
                kind, key, body = record.kind, record.key, record.body
                checksum = rows.checksum(kind, key, body)
                self._records.add((head.position, kind, key, number, seq + max(len(events), 1), body, checksum))
                number += 1
            for event, body in events:
                seq += 1
                self._cursor += 1
                self._events.add((head.position, seq, at, body, rows.checksum(at, body), self._cursor))
                state = fold(state, event, at)
                stored.append(rows.stored(body, event.type, task_id, seq, at, self._cursor))
        if state.status is not head.state.status:
            self._change_status(head.position, state)
        if (state.pinned, state.archived) != (head.state.pinned, head.state.archived):
            self._connection.execute(
                "UPDATE tasks SET pinned = ?, archived = ? WHERE position = ?",
                (state.pinned, state.archived, head.position),
            )
        if state is not head.state:
            self._changed[head.position] = state
        head.state, head.last_seq, head.records = state, seq, number
        self._ends[task_id] = TaskEnd(seq, state.status)
        return stored

    def _change_status(self, position: int, state: TaskProjection) -> None:
        self._connection.execute("UPDATE tasks SET status = ? WHERE position = ?", (state.status, position))
        if state.status is Status.QUEUED:
            queued = self._next_queue_position()
            self._connection.execute("UPDATE tasks SET queued = ? WHERE position = ?", (queued, position))
        if state.status in UNCLAIMED:
            self._clear_lease(position)

    def _next_queue_position(self) -> int:
        self._queue_position += 1
        return self._queue_position

    def _head(self, task_id: str) -> Head:
        head = self._heads.get(task_id)
        if head is None:
            self.bind()
            row = self._connection.execute(
                "SELECT position, (SELECT coalesce(max(seq), 0) FROM events WHERE task = position),"
                " (SELECT count(*) FROM records WHERE task = position), fence, state FROM tasks WHERE id = ?",
                (task_id,),
            ).fetchone()
            if row is None:
                raise UnknownTask(task_id)
            position, last_seq, records, fence, state = row
            head = Head(position, last_seq, records, fence, TaskProjection.model_validate_json(state))
            self._remember(task_id, head)
        return head

    def _remember(self, task_id: str, head: Head) -> None:
        self._heads[task_id] = head
        if len(self._heads) > HEADS_KEPT:
            self._heads.popitem(last=False)

    # -- claims ------------------------------------------------------------------------------------------------------

    def claim(self, owner: str, now: float, lease: float) -> Claim | None:
        free = self._connection.execute(
            "SELECT id FROM tasks WHERE status IN (?, ?) AND lease_owner IS NULL ORDER BY priority, queued LIMIT 2",
            (Status.QUEUED, Status.CANCELLING),
        ).fetchall()
        if len(free) < 2:
            free += self._connection.execute(
                "SELECT id FROM tasks WHERE lease_owner IS NOT NULL AND lease_until < ? AND status IN (?, ?, ?, ?)"
                " ORDER BY priority, queued LIMIT 2",
                (now, Status.QUEUED, Status.RUNNING, Status.WAITING, Status.CANCELLING),
            ).fetchall()
        if not free:
            return None
        task_id: str = free[0][0]
        head = self._head(task_id)
        self._connection.execute(
            "UPDATE tasks SET lease_owner = ?, lease_until = ?, fence = ? WHERE position = ?",
            (owner, now + lease, head.fence + 1, head.position),
        )
        head.fence += 1
        (request,) = self._connection.execute(
            "SELECT request FROM tasks WHERE position = ?", (head.position,)
        ).fetchone()
        self.bind()
        records, damage = read_records(self._connection, head.position) if head.records else ((), 0)
        stored = StoredRequest.model_validate_json(request)
        return Claim(task_id, owner, head.fence, head.state.status, stored, records, damage, more=len(free) > 1)

    def release_claim(self, task_id: str) -> None:
        self._clear_lease(self._head(task_id).position)

    def _clear_lease(self, position: int) -> None:
        self._connection.execute(
            "UPDATE tasks SET lease_owner = NULL, lease_until = NULL WHERE position = ?", (position,)
        )

    def renew(self, task_id: str, fence: int, now: float, lease: float) -> None:
        head = self._head(task_id)
        if head.fence != fence:
            raise LeaseLost(task_id)
        self._connection.execute(
            "UPDATE tasks SET lease_until = ? WHERE position = ? AND lease_owner IS NOT NULL",
            (now + lease, head.position),
        )

    # -- blobs and caps ----------------------------------------------------------------------------------------------

    def put_blob(self, task_id: str, data: bytes, like: str | None, limit: int | None) -> str:
        digest = hashlib.sha256(data).hexdigest()
        head = self._head(task_id)
        if head.blob_bytes is None:
            (head.blob_bytes,) = self._connection.execute(
                "SELECT coalesce(sum(length(data)), 0) FROM blob_uses JOIN blobs USING (digest) WHERE task = ?",
                (head.position,),
            ).fetchone()
        if limit is None or head.blob_bytes < limit:
            head.blob_bytes += self._blobs.put(digest, data, like)
            self._connection.execute("INSERT OR IGNORE INTO blob_uses VALUES (?, ?)", (head.position, digest))
        return digest

    def prune(self, retention: Retention) -> Pruned:
        self.bind()
        return Pruner(self._connection, self._blobs, self._drop).prune(retention)

    def delete(self, task_id: str) -> None:
        head = self._head(task_id)
        if head.state.status not in ENDED:
            raise WrongStatus(task_id, head.state.status)
        self.bind()
        self._drop(head.position, task_id)
        self._changed.pop(head.position, None)
        self._blobs.sweep()

    def _drop(self, position: int, task_id: str) -> None:
        (last,) = self._connection.execute("SELECT max(cursor) FROM events WHERE task = ?", (position,)).fetchone()
        self._pruned = max(self._pruned, last or 0)
        for table in ("events", "records", "blob_uses"):
            self._connection.execute(f"DELETE FROM {table} WHERE task = ?", (position,))  # noqa: S608
        self._connection.execute("DELETE FROM tasks WHERE position = ?", (position,))
        self._heads.pop(task_id, None)
        self._ends[task_id] = None


def read_records(connection: sqlite3.Connection, position: int) -> tuple[Sequence[Record], int]:
    """A task's records in the order in which they were written, and how many are damaged."""
    found = connection.execute(
        "SELECT CAST(kind AS BLOB), CAST(key AS BLOB), seq, CAST(body AS BLOB), checksum FROM records"
        " WHERE task = ? ORDER BY number",
        (position,),
    )
    records = [rows.record_of(row) for row in found]
    whole = [record for record in records if record is not None]
    return whole, len(records) - len(whole)
