"""An index of what was asked, answered and changed in all tasks, for search.

It is derived from the journal and has its own file: a damaged index is built anew and never stops a write. It indexes
new events before each search.
"""

import json
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

FILE = "words.db"
MAX_TERMS = 16
_MAX_TERM = 100
#: Characters of one message that are indexed.
_MAX_TEXT = 20_000
_PAGE = 2_000
_FORMAT = 1
_SCHEMA = (
    # A row's number is the task's position, shifted by 24 bits, and the event's number in it.
    "CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')",
    # The last indexed event and its checksum, which tell whether the journal is still the same; the newest pruned one.
    "CREATE TABLE progress (cursor INTEGER NOT NULL, checksum INTEGER NOT NULL, pruned INTEGER NOT NULL)",
    "INSERT INTO progress VALUES (0, 0, 0)",
    f"PRAGMA user_version = {_FORMAT}",
)
_INDEXED = " OR ".join(f'body GLOB \'{{"type":"{kind}"*\'' for kind in ("message", "diff", "label"))

#: Holds for a task whose words match; takes one term.
MATCHES = "position IN (SELECT rowid >> 24 FROM words WHERE words MATCH ?)"


def words_of(body: str) -> str:
    """The text of an event that a search can find; `body` is its JSON."""
    try:
        event = json.loads(body)
    except ValueError:
        return ""  # damaged
    match event["type"]:
        case "message":
            text: str = event["text"]
        case "diff":
            text = "\n".join(file["path"] for file in event["files"])
        case "label":
            text = event.get("title") or ""
        case _:
            return ""
    return text[:_MAX_TEXT]


def terms_of(query: str) -> list[str]:
    """The words of a query; several in a row, such as those of a path, stay together."""
    words = query.replace("\0", " ").split()[:MAX_TERMS]
    return [word[:_MAX_TERM] for word in words if any(char.isalnum() for char in word)]


def match(term: str) -> str:
    """The term in the index's query language, as the beginning of a word."""
    quoted = term.replace('"', '""')
    return f'"{quoted}"*'


def plain(text: str) -> str:
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return " ".join(re.findall(r"[^\W_]+", bare.casefold()))


class WordIndex:
    """Used by one thread. The journal's tables can be read through the same connection."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._path = journal.with_name(FILE)
        self._connection: sqlite3.Connection | None = None

    def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query over the journal's tables and the current words."""
        for _ in range(2):
            try:
                connection = self._current()
                return query(connection)
            except sqlite3.DatabaseError:
                self._discard()
        return query(self._current())

    def forget(self) -> None:
        """Remove the words of deleted tasks from the file."""

        def purge(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO words(words) VALUES ('optimize')")

        self.read(purge)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _current(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._open()
        self._catch_up(self._connection)
        return self._connection

    def _open(self) -> sqlite3.Connection:
        self._path.touch(mode=0o600)
        connection = sqlite3.connect(
            self._path.as_uri(), uri=True, isolation_level=None, check_same_thread=False, cached_statements=32
        )
        try:
            connection.execute("PRAGMA busy_timeout = 5000")
            # It can be built anew, so it need not wait for the disk.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("ATTACH ? AS journal", (f"{self._journal.as_uri()}?mode=ro",))
            (version,) = connection.execute("PRAGMA main.user_version").fetchone()
            if version not in (0, _FORMAT):
                raise sqlite3.DatabaseError("another format")
            if not version:
                connection.execute("PRAGMA main.journal_mode = WAL")
                for statement in ("BEGIN IMMEDIATE", *_SCHEMA, "COMMIT"):
                    connection.execute(statement)
        except BaseException:
            connection.close()
            raise
        return connection

    def _discard(self) -> None:
        with suppress(sqlite3.Error):
            self.close()
        self._connection = None
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)

    def _catch_up(self, connection: sqlite3.Connection) -> None:
        last, pruned = connection.execute("SELECT cursor, pruned FROM commits").fetchone()
        done, checksum, known = connection.execute("SELECT cursor, checksum, pruned FROM progress").fetchone()
        if done > last or (known == pruned and done and _checksum(connection, done) != checksum):
            raise sqlite3.DatabaseError("another journal")
        if known != pruned:
            connection.execute("DELETE FROM words WHERE rowid >> 24 NOT IN (SELECT position FROM tasks)")
            connection.execute("UPDATE progress SET pruned = ?", (pruned,))
        while done < last:
            done = self._index_page(connection, done, last)

    def _index_page(self, connection: sqlite3.Connection, after: int, last: int) -> int:
        """Index some events after a cursor; returns how far it came."""
        found: Sequence[tuple[int, int, int, str]] = connection.execute(
            f"SELECT cursor, task, seq, body FROM events WHERE cursor > ? AND cursor <= ? AND ({_INDEXED})"  # noqa: S608
            " ORDER BY cursor LIMIT ?",
            (after, last, _PAGE),
        ).fetchall()
        done = found[-1][0] if len(found) == _PAGE else last
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany(
                "INSERT OR REPLACE INTO words (rowid, text) VALUES (?, ?)",
                [((task << 24) + seq, text) for _, task, seq, body in found if (text := words_of(body))],
            )
            connection.execute("UPDATE progress SET cursor = ?, checksum = ?", (done, _checksum(connection, done)))
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        return done


def _checksum(connection: sqlite3.Connection, cursor: int) -> int:
    row = connection.execute("SELECT checksum FROM events WHERE cursor = ?", (cursor,)).fetchone()
    return 0 if row is None else int(row[0])
