"""The migrations of the file, append-only: a newer program opens every older file."""

import json
import re
import sqlite3
from collections.abc import Callable
from zlib import crc32

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
        # Finds interrupted undos without reading all records.
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


def typed_step_records(connection: sqlite3.Connection) -> None:
    """Records of kind `step` held turns, usage, budget and agent stops too, distinguished by their keys or bodies."""
    steps = "SELECT task, key, body, checksum FROM records WHERE kind = 'step'"
    for task, key, body, checksum in connection.execute(steps).fetchall():
        if checksum != crc32(f"step\n{key}\n{body}".encode()):
            continue  # damaged: it stays so, and its task says so when you resume it
        kind, new_key, new_body = _typed_step(key, body)
        connection.execute(
            "UPDATE records SET kind = ?, key = ?, body = ?, checksum = ? WHERE task = ? AND kind = 'step' AND key = ?",
            (kind, new_key, new_body, crc32(f"{kind}\n{new_key}\n{new_body}".encode()), task, key),
        )


def _typed_step(key: str, body: str) -> tuple[str, str, str]:
    name, tilde, branch = key.partition("~")
    round_, _, step = name.partition(".")
    rest = tilde + branch
    if body.startswith('{"heard":'):
        return "turn", key, body
    if step.endswith(".asked"):
        return "usage", name.removesuffix(".asked") + rest, body
    if step.startswith("stop."):
        return "stopped", f"{round_}.{step.removeprefix('stop.')}{rest}", body
    if step.startswith("budget."):
        return "budget", f"{round_}.budget{step.removeprefix('budget.')}{rest}", body
    if re.fullmatch(r"verify\d+", step):
        return "verification", key, body
    if re.fullmatch(r"escalation\d+", step):
        return "escalation", key, body
    if step.startswith("context."):
        return "step", f"{round_}.context{step.removeprefix('context.')}{rest}", body
    if re.match(r"\d+-", step):
        return "step", key, _typed_result(body)
    return "step", key, body


def _typed_result(text: str) -> str:
    """An agent's words; some sentences were placeholders for an agent that had none."""
    unfinished = ("The attempt came to no end: ", "The review was not finished: ")
    for phrase in ("The attempt came to nothing: ", *unfinished):
        if text.startswith(phrase):
            result = {"type": "gave_up", "reason": text.removeprefix(phrase), "began": phrase in unfinished}
            return json.dumps(result, ensure_ascii=False)
    result = {"type": "answered", "text": text} if text else {"type": "gave_up", "reason": "", "began": False}
    return json.dumps(result, ensure_ascii=False)


def events_in_one_order(connection: sqlite3.Connection) -> None:
    # `cursor` orders the events of all tasks. Older events get theirs by time, and within a task by their number.
    connection.execute("ALTER TABLE events ADD COLUMN cursor INTEGER")
    connection.execute(
        "WITH timed AS (SELECT task, seq, max(at) OVER (PARTITION BY task ORDER BY seq) AS latest FROM events),"
        " ordered AS (SELECT task, seq, row_number() OVER (ORDER BY latest, task, seq) AS cursor FROM timed)"
        " UPDATE events SET cursor = ordered.cursor FROM ordered"
        " WHERE ordered.task = events.task AND ordered.seq = events.seq"
    )
    connection.execute("CREATE UNIQUE INDEX events_cursor ON events (cursor)")
    # The newest cursor, which must not be given again; and the newest that was pruned.
    connection.execute("ALTER TABLE commits ADD COLUMN cursor INTEGER NOT NULL DEFAULT 0")
    connection.execute("ALTER TABLE commits ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0")
    connection.execute("UPDATE commits SET cursor = (SELECT count(*) FROM events)")


def labelled_tasks(connection: sqlite3.Connection) -> None:
    # Lists are filtered by these; the label itself is part of the task's state.
    connection.execute("ALTER TABLE tasks ADD COLUMN workspace TEXT NOT NULL DEFAULT ''")
    connection.execute("ALTER TABLE tasks ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0")
    connection.execute("ALTER TABLE tasks ADD COLUMN archived INTEGER NOT NULL DEFAULT 0")
    connection.execute(
        "UPDATE tasks SET workspace = coalesce(json_extract(request, '$.workspace'), '') WHERE json_valid(request)"
    )
    connection.execute("CREATE INDEX tasks_workspace ON tasks (workspace, position)")
    connection.execute("CREATE INDEX tasks_pinned ON tasks (position) WHERE pinned")


MIGRATIONS: list[Migration] = [
    tasks_events_records_blobs,
    blobs_as_differences,
    typed_step_records,
    events_in_one_order,
    labelled_tasks,
]


def migrate(connection: sqlite3.Connection, upto: int = len(MIGRATIONS)) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise JournalTooNew(
            f"The journal has format {version}; this version of Rainy Brain knows formats up to {len(MIGRATIONS)}. "
            "Nothing was changed. Start the newer version again, or name another data directory with --data-dir."
        )
    for number, migration in enumerate(MIGRATIONS[version:upto], start=version + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            migration(connection)
            connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
