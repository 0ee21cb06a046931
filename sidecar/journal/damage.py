"""A damaged journal never prevents a start: set it aside, keep what is readable, and name what is lost."""

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sidecar.journal import rows
from sidecar.journal.commit_log import LoggedCommits, TaskEnd, log_path, read_log
from sidecar.journal.migrations import MIGRATIONS
from sidecar.journal.store import connect, open_file
from sidecar.journal.wal import repair_wal
from sidecar.wire.tasks import ENDED
from sidecar.wire.text import listed, plural

log = logging.getLogger(__name__)

_PARTS = ("", "-wal", "-shm")
_OWNED = ("events", "records", "blob_uses")
_NAMED = 100
_DAMAGE = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_ERROR,
    }
)


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found and done, in words; and unfinished tasks that lost events, with how far they had got."""

    messages: list[str] = field(default_factory=list)
    cut: dict[str, TaskEnd] = field(default_factory=dict)


def inspect(path: Path) -> Inspection:
    """Repair what can be repaired, set aside what can't, and name what is lost. Never raises for a damaged file."""
    if not path.exists():
        log_path(path).unlink(missing_ok=True)
        return Inspection()
    logged = read_log(path)
    evidence = _repair(path, logged)
    messages = _set_aside_if_damaged(path)
    if evidence is None:
        if messages:
            log_path(path).unlink(missing_ok=True)
        return Inspection(messages)
    lost, cut = _compare(path, logged)
    log_path(path).unlink(missing_ok=True)
    message = f"The newest writes of the journal were damaged; they are set aside as {evidence}. {_name(lost, cut)}"
    log.error("%s", message)
    return Inspection([message, *messages], cut)


def _repair(path: Path, logged: LoggedCommits) -> Path | None:
    """If commits are missing, try to get them back from the write-ahead log; returns where its original is."""
    wal = Path(f"{path}-wal")
    original = wal.read_bytes() if wal.is_file() else b""
    if _commit_number(path) >= logged.number:
        return None
    evidence = Path(f"{_damaged_name(path)}-wal")
    evidence.touch(mode=0o600)
    evidence.write_bytes(original)
    if original:
        Path(f"{path}-shm").unlink(missing_ok=True)
        wal.touch(mode=0o600)
        wal.write_bytes(original)
        repair_wal(wal)
    return evidence


def _commit_number(path: Path) -> int:
    try:
        with closing(connect(path)) as connection:
            number: int = connection.execute("SELECT number FROM commits").fetchone()[0]
            return number
    except (sqlite3.Error, TypeError):
        return 0


def _compare(path: Path, logged: LoggedCommits) -> tuple[list[str], dict[str, TaskEnd]]:
    """The tasks that are gone, and the unfinished ones that miss events they had."""
    lost: list[str] = []
    cut: dict[str, TaskEnd] = {}
    known: dict[str, tuple[int, str]] = {}
    with suppress(sqlite3.Error), closing(connect(path)) as connection:
        last = "(SELECT coalesce(max(seq), 0) FROM events WHERE task = position)"
        found = connection.execute(f"SELECT id, {last}, status FROM tasks")  # noqa: S608
        known = {task_id: (seq, status) for task_id, seq, status in found}
    for task_id, end in logged.tasks.items():
        if task_id not in known:
            lost.append(task_id)
        elif known[task_id][0] < end.seq and known[task_id][1] not in ENDED:
            cut[task_id] = end
    return lost, cut


def _name(lost: Sequence[str], cut: Mapping[str, TaskEnd]) -> str:
    parts = []
    if lost:
        parts.append(f"Lost tasks: {listed(lost, _NAMED)}.")
    if cut:
        parts.append(
            f"Tasks that lost their newest events, and don't run again by themselves: {listed(list(cut), _NAMED)}."
        )
    return " ".join(parts) or "All tasks are still there."


def _set_aside_if_damaged(path: Path) -> list[str]:
    reason = _defect(path)
    if not reason:
        return []
    moved = _move(path)
    salvage = _Salvage()
    with suppress(sqlite3.Error), closing(_connect(moved)) as old:
        # In the old file's format: opening the new one migrates what was copied.
        # SQLite reads nothing of a file that lost whole pages at its end, unless it may repair the schema.
        old.execute("PRAGMA writable_schema = ON")
        (version,) = old.execute("PRAGMA user_version").fetchone()
        open_file(path, min(version, len(MIGRATIONS)) or len(MIGRATIONS)).close()
        with closing(_connect(path)) as new:
            salvage.copy(old, new)
    message = f"The journal was damaged ({reason}) and was set aside as {moved}. {salvage.describe()}"
    log.error("%s", message)
    return [message]


def _defect(path: Path) -> str:
    try:
        with closing(_connect(path)) as connection:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                return str(verdict).replace("\n", " ")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if 0 < version <= len(MIGRATIONS):
                connection.execute("SELECT number FROM commits").fetchone()
                damaged = connection.execute(rows.DAMAGED_TASKS).fetchall()
                if damaged:
                    return f"rows of {plural(len(damaged), 'task')} do not match their checksums"
                gaps = connection.execute(rows.GAPS.format(which="true")).fetchall()
                if gaps:
                    return f"events or records of {plural(len(gaps), 'task')} are missing"
            # Find out now whether the file can be written.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.DatabaseError as error:
        # A full or failing disk doesn't damage the file; the writer waits until it recovers.
        return str(error) if _primary_code(error) in _DAMAGE else ""
    return ""


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF


def _connect(path: Path) -> sqlite3.Connection:
    connection = connect(path)
    connection.create_function("is_damaged", -1, rows.is_damaged, deterministic=True)
    return connection


def _move(path: Path) -> Path:
    moved = _damaged_name(path)
    for part in _PARTS:
        with suppress(FileNotFoundError):
            Path(f"{path}{part}").rename(f"{moved}{part}")
    return moved


def _damaged_name(path: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    return path.with_name(f"{path.stem}-damaged-{stamp}{path.suffix}")


@dataclass(slots=True)
class _Salvage:
    kept: set[str] = field(default_factory=set)
    lost: list[str] = field(default_factory=list)
    unread: bool = False

    def copy(self, old: sqlite3.Connection, new: sqlite3.Connection) -> None:
        # Checksums tell what is damaged; a text that can't be decoded would hide all rows after it.
        old.text_factory = lambda data: data.decode(errors="replace")
        # The index of names knows the tasks whose own rows, or the way to them, can't be read.
        index = "SELECT position, id FROM tasks INDEXED BY sqlite_autoindex_tasks_1 ORDER BY id"
        names = {row[0]: row[1] for row in self._from_both_ends(old, index)}
        unnamed, self.unread = self.unread, False
        known: set[object] = set()
        for row in self._from_both_ends(old, "SELECT * FROM tasks ORDER BY position"):
            if row[0] not in known:
                known.add(row[0])
                self._copy_task(row, names.get(row[0], row[1]), old, new)
        self.unread = self.unread and unnamed
        for position in names.keys() - known:
            row = (position,)
            with suppress(sqlite3.Error):
                row = old.execute("SELECT * FROM tasks WHERE position = ?", row).fetchone() or row
            self._copy_task(row, names[position], old, new)
        with suppress(sqlite3.Error):
            for row in self._readable(old, "SELECT * FROM blobs"):
                columns = ("digest", "size", "data", "base", "depth")[: len(row)]
                places = ", ".join("?" * len(row))
                new.execute(f"INSERT OR IGNORE INTO blobs ({', '.join(columns)}) VALUES ({places})", row)  # noqa: S608
        with suppress(sqlite3.Error):  # an older format has no cursors
            self._copy_cursors(old, new)

    def _copy_cursors(self, old: sqlite3.Connection, new: sqlite3.Connection) -> None:
        """No cursor is given twice; and if something is lost, no reader resumes as if it weren't."""
        (last,) = new.execute("SELECT coalesce(max(cursor), 0) FROM events").fetchone()
        pruned = 0
        with suppress(sqlite3.Error, TypeError):
            known, pruned = old.execute("SELECT cursor, pruned FROM commits").fetchone()
            last = max(last, known)
        new.execute("UPDATE commits SET cursor = ?, pruned = ?", (last, last if self.lost or self.unread else pruned))

    def _copy_task(
        self, row: tuple[object, ...], name: object, old: sqlite3.Connection, new: sqlite3.Connection
    ) -> None:
        position = row[0]
        gaps = rows.GAPS.format(which="task = ?")
        new.execute("BEGIN")
        try:
            _insert(new, "tasks", [row])
            if new.execute(f"SELECT 1 FROM ({rows.DAMAGED_TASKS}) WHERE position = ?", (position,)).fetchone():  # noqa: S608
                raise sqlite3.DatabaseError("the task's row is damaged")
            for table in _OWNED:
                _insert(new, table, old.execute(f"SELECT * FROM {table} WHERE task = ?", (position,)))  # noqa: S608
            (events,) = new.execute("SELECT count(*) FROM events WHERE task = ?", (position,)).fetchone()
            if not events or new.execute(gaps, (position, position)).fetchone() is not None:
                raise sqlite3.DatabaseError("events or records are missing")
            new.execute("COMMIT")
            self.kept.add(str(name))
        except sqlite3.Error:
            new.execute("ROLLBACK")
            self.lost.append(str(name))

    def _from_both_ends(self, old: sqlite3.Connection, query: str) -> Iterator[tuple[object, ...]]:
        """A damaged page in the middle then hides only its own rows."""
        yield from self._readable(old, query)
        if self.unread:
            yield from self._readable(old, f"{query} DESC")

    def _readable(self, old: sqlite3.Connection, query: str) -> Iterator[tuple[object, ...]]:
        try:
            yield from old.execute(query)
        except sqlite3.Error:
            self.unread = True

    def describe(self) -> str:
        parts = [f"Tasks kept: {len(self.kept)}."]
        lost = sorted(set(self.lost) - self.kept)
        if lost:
            parts.append(f"Lost: {listed(lost, _NAMED)}.")
        if self.unread or not (self.kept or lost):
            parts.append("Unreadable tasks are lost, and their names with them.")
        return " ".join(parts)


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[tuple[object, ...]]) -> None:
    for row in rows:
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
