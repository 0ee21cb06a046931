"""How the file came to its present shape. Append only: a newer program opens every older file."""

import sqlite3
from collections.abc import Callable

from sidecar.journal.errors import JournalTooNew

Migration = Callable[[sqlite3.Connection], None]


def tasks_events_records_blobs(connection: sqlite3.Connection) -> None:
    for statement in (
        """
        CREATE TABLE tasks (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            created_at TEXT NOT NULL,
            conversation TEXT NOT NULL,
            idempotency_key TEXT UNIQUE,
            priority INTEGER NOT NULL,
            request TEXT NOT NULL,
            request_checksum INTEGER NOT NULL,
            status TEXT NOT NULL,
            state TEXT NOT NULL,
            state_checksum INTEGER NOT NULL,
            queued INTEGER NOT NULL,
            fence INTEGER NOT NULL DEFAULT 0,
            lease_owner TEXT,
            lease_until REAL
        )
        """,
        "CREATE INDEX tasks_queue ON tasks (status, priority, queued)",
        "CREATE INDEX tasks_conversation ON tasks (conversation, position)",
        """
        CREATE TABLE events (
            task INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            at TEXT NOT NULL,
            body TEXT NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (task, seq)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE records (
            task INTEGER NOT NULL,
            kind TEXT NOT NULL,
            key TEXT NOT NULL,
            number INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            body TEXT NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (task, kind, key)
        ) WITHOUT ROWID
        """,
        # What was being undone when a process died is found without reading everything.
        "CREATE INDEX records_undo ON records (task) WHERE kind = 'undo'",
        "CREATE TABLE blobs (digest TEXT PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL)",
        """
        CREATE TABLE blob_uses (
            task INTEGER NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (task, digest)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX blob_uses_digest ON blob_uses (digest)",
        # The number of the last commit: after a failed one it tells what the disk really holds.
        "CREATE TABLE commits (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL)",
        "INSERT INTO commits VALUES (1, 0)",
    ):
        connection.execute(statement)


def blobs_as_differences(connection: sqlite3.Connection) -> None:
    # `base` is the content that the data is a difference to; `depth` how many of those lie below it.
    connection.execute("ALTER TABLE blobs ADD COLUMN base TEXT")
    connection.execute("ALTER TABLE blobs ADD COLUMN depth INTEGER NOT NULL DEFAULT 0")


MIGRATIONS: list[Migration] = [
    tasks_events_records_blobs,
    blobs_as_differences,
]


def migrate(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise JournalTooNew(
            f"The journal has format {version}; this version of Rainy Brain knows formats up to {len(MIGRATIONS)}. "
            "Nothing was changed. Start the newer version again, or name another data directory with --data-dir."
        )
    for number, migration in enumerate(MIGRATIONS[version:], start=version + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            migration(connection)
            connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
