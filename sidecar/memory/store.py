"""The SQLite file of one workspace's index: its tables, and how it is opened."""

import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sidecar.config.paths import is_disk_full

#: A file of another version is thrown away: everything in it can be built again.
VERSION = 6
_BUSY_SECONDS = 10.0
_TRANSIENT = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL})
_CACHE_KIB = 4_096

#: Nothing is stored twice: `package` is that of a Go file, a chunk's file is in its id, its symbol is a view's,
#: `statements` are the imports of a file as JSON, and `places` pairs of a chunk and a line.
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER, mtime INTEGER, hash BLOB,
    language TEXT, kind TEXT, lines INTEGER, package TEXT, length INTEGER, words BLOB
);
CREATE INDEX files_package ON files (package) WHERE package IS NOT NULL;
CREATE TABLE definitions (
    id INTEGER PRIMARY KEY, line INTEGER, end_line INTEGER, scope TEXT, name TEXT, kind TEXT, complexity INTEGER,
    length INTEGER
);
CREATE INDEX definitions_name ON definitions (name) WHERE name <> '';
CREATE VIEW chunks AS SELECT
    id, id >> 12 AS file, line, end_line, CASE scope WHEN '' THEN name ELSE scope || '.' || name END AS symbol, name,
    kind, complexity, length
FROM definitions;
CREATE TABLE imports (file INTEGER PRIMARY KEY, statements TEXT NOT NULL);
CREATE TABLE edges (
    source INTEGER NOT NULL, target TEXT NOT NULL, name TEXT NOT NULL, exported INTEGER NOT NULL, alias TEXT NOT NULL,
    line INTEGER, certain INTEGER, PRIMARY KEY (source, target, name, exported, alias)
) WITHOUT ROWID;
CREATE INDEX edges_target ON edges (target, name);
CREATE TABLE calls (
    name TEXT NOT NULL, segment INTEGER NOT NULL, places BLOB, PRIMARY KEY (name, segment)
) WITHOUT ROWID;
CREATE TABLE commits (id INTEGER PRIMARY KEY, time INTEGER, author TEXT, subject TEXT, paths BLOB);
CREATE TABLE paths (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, commits BLOB);
CREATE TABLE postings (
    term TEXT NOT NULL, segment INTEGER NOT NULL, ids BLOB, impacts BLOB, PRIMARY KEY (term, segment)
) WITHOUT ROWID;
"""


#: Made by the first search with vectors.
VECTORS = "CREATE TABLE vectors (file INTEGER PRIMARY KEY, data BLOB)"


def open_store(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
    """Raises `sqlite3.DatabaseError` for a damaged file or one of another version, `OSError` if it can't be made."""
    if not readonly:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    uri = f"{path.absolute().as_uri()}?mode={'ro' if readonly else 'rwc'}"
    store = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        store.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        if not readonly:
            path.chmod(0o600)
            store.execute("PRAGMA journal_mode=WAL")
            store.execute("PRAGMA synchronous=NORMAL")
        version = store.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not readonly:
            with transaction(store):
                if store.execute("PRAGMA user_version").fetchone()[0] == 0:
                    for statement in _SCHEMA.split(";\n"):
                        store.execute(statement)
                    store.execute(f"PRAGMA user_version={VERSION}")
        elif version != VERSION:
            raise sqlite3.DatabaseError(f"index version {version}, not {VERSION}")
    except BaseException:
        store.close()
        raise
    return store


def is_whole(store: sqlite3.Connection) -> bool:
    """Whether a file that came from elsewhere is sound, and has our tables and nothing else that SQLite would run."""
    query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
    ours = {" ".join(statement.split()) for statement in (*_SCHEMA.split(";\n"), VECTORS)}
    found = {" ".join(sql.split()).rstrip(";") for (sql,) in store.execute(query)}
    return found <= ours and store.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)


def open_or_replace(path: Path) -> sqlite3.Connection:
    """Open for writing; a damaged file is removed and begun again, since the workspace holds everything in it."""
    try:
        store = open_store(path)
        store.execute("SELECT count(*) FROM files, meta LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        # On a full disk a removed index could not be built again.
        if error.sqlite_errorcode & 0xFF in _TRANSIENT or is_disk_full(path.parent):
            raise
        remove(path)
        store = open_store(path)
    except sqlite3.DatabaseError:
        remove(path)
        store = open_store(path)
    return store


def remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@contextlib.contextmanager
def transaction(store: sqlite3.Connection):  # type: ignore[no-untyped-def]
    store.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            store.execute("ROLLBACK")
        raise
    store.execute("COMMIT")


def get_meta(store: sqlite3.Connection, key: str) -> str:
    row = store.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return "" if row is None else str(row[0])


def set_meta(store: sqlite3.Connection, key: str, value: object) -> None:
    store.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, str(value)))


def select(store: sqlite3.Connection, statement: str, values: Iterable[int | str], tail: str = "") -> list[Any]:
    """`statement` ends in `IN`; at most 900 values at once, as SQLite allows."""
    wanted, rows = list(values), []
    for start in range(0, len(wanted), 900):
        part = wanted[start : start + 900]
        rows += store.execute(f"{statement} ({','.join('?' * len(part))}){tail}", part).fetchall()
    return rows


def size_of(path: Path) -> int:
    """Bytes on disk."""
    total = 0
    for suffix in ("", "-wal"):
        with contextlib.suppress(OSError):
            total += path.with_name(path.name + suffix).stat().st_size
    return total
