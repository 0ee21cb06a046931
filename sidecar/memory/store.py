"""The SQLite file of one workspace's index: its tables, and how it is opened."""

import contextlib
import sqlite3
from pathlib import Path

#: A file of another version is thrown away: everything in it can be built again.
VERSION = 5
_BUSY_SECONDS = 10.0
_CACHE_KIB = 4_096

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER, mtime INTEGER, hash BLOB,
    language TEXT, kind TEXT, lines INTEGER, unit TEXT, length INTEGER, words BLOB
);
CREATE INDEX files_unit ON files (unit) WHERE unit <> path;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, line INTEGER, end_line INTEGER, symbol TEXT, name TEXT,
    kind TEXT, complexity INTEGER, length INTEGER
);
CREATE INDEX chunks_name ON chunks (name);
CREATE TABLE imports (
    file INTEGER NOT NULL, line INTEGER, module TEXT, name TEXT, alias TEXT, exported INTEGER, member TEXT
);
CREATE INDEX imports_file ON imports (file);
CREATE TABLE edges (
    source INTEGER NOT NULL, target TEXT NOT NULL, name TEXT, alias TEXT, line INTEGER, exported INTEGER,
    certain INTEGER
);
CREATE INDEX edges_target ON edges (target, name);
CREATE INDEX edges_source ON edges (source);
CREATE TABLE calls (
    file INTEGER NOT NULL, chunk INTEGER, name TEXT, line INTEGER, PRIMARY KEY (file, chunk, name)
) WITHOUT ROWID;
CREATE INDEX calls_name ON calls (name);
CREATE TABLE commits (id INTEGER PRIMARY KEY, time INTEGER, author TEXT, subject TEXT, paths BLOB);
CREATE TABLE paths (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, commits BLOB);
CREATE TABLE postings (
    term TEXT NOT NULL, segment INTEGER NOT NULL, ids BLOB, impacts BLOB, PRIMARY KEY (term, segment)
) WITHOUT ROWID;
"""


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


def open_or_replace(path: Path) -> sqlite3.Connection:
    """Open for writing; a damaged file is removed and begun again, since the workspace holds everything in it."""
    try:
        store = open_store(path)
        store.execute("SELECT count(*) FROM files, meta LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
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


def size_of(path: Path) -> int:
    """Bytes on disk."""
    total = 0
    for suffix in ("", "-wal"):
        with contextlib.suppress(OSError):
            total += path.with_name(path.name + suffix).stat().st_size
    return total
