"""Notes about a workspace that outlast its index: decisions and patterns, and proposed standards and skills.

An agent may only propose a note; a person accepts it. Proposed notes are never shown to an agent.
"""

import secrets
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple

#: `standards` and `skills` become files of the workspace when a person accepts them.
NoteKind = Literal["decisions", "patterns", "standards", "skills"]
NoteState = Literal["proposed", "accepted"]

MAX_NOTES = 1_000
MAX_TITLE = 200
MAX_TEXT = 8_000
_BUSY_SECONDS = 5.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS notes (
    id TEXT PRIMARY KEY, workspace TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
    state TEXT NOT NULL, task TEXT NOT NULL, at REAL NOT NULL
)
"""


class Note(NamedTuple):
    id: str
    workspace: str
    kind: NoteKind
    title: str
    text: str
    state: NoteState
    #: The task whose agent proposed it; empty for a person's own note.
    task: str
    at: float


class TooManyNotes(Exception):
    """The workspace has as many notes as it may have."""


class Notes:
    """One SQLite file for all workspaces. It holds what people decided, so it is never thrown away."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "memory" / "notes.sqlite"
        self._lock = threading.Lock()

    def add(self, workspace: str, kind: NoteKind, title: str, text: str, *, task: str = "") -> Note:
        """Proposed if it comes from a task's agent, accepted if it comes from a person."""
        note = Note(
            f"n_{secrets.token_hex(6)}",
            workspace,
            kind,
            title[:MAX_TITLE],
            text[:MAX_TEXT],
            "proposed" if task else "accepted",
            task,
            time.time(),
        )
        with self._lock, closing(self._open()) as store:
            count = store.execute("SELECT count(*) FROM notes WHERE workspace = ?", (workspace,)).fetchone()[0]
            if count >= MAX_NOTES:
                raise TooManyNotes
            store.execute("INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", note)
        return note

    def list(self, workspace: str, *, accepted: bool = False) -> Sequence[Note]:
        """Newest first."""
        if not self._path.exists():
            return []
        with self._lock, closing(self._open()) as store:
            rows = store.execute("SELECT * FROM notes WHERE workspace = ? ORDER BY at DESC", (workspace,)).fetchall()
        notes = [Note(*row) for row in rows]
        return [note for note in notes if note.state == "accepted"] if accepted else notes

    def get(self, note_id: str) -> Note | None:
        if not self._path.exists():
            return None
        with self._lock, closing(self._open()) as store:
            row = store.execute("SELECT * FROM notes WHERE id = ?", (note_id,)).fetchone()
        return None if row is None else Note(*row)

    def accept(self, note_id: str) -> bool:
        return self._change("UPDATE notes SET state = 'accepted' WHERE id = ?", note_id)

    def remove(self, note_id: str) -> bool:
        return self._change("DELETE FROM notes WHERE id = ?", note_id)

    def _change(self, statement: str, note_id: str) -> bool:
        if not self._path.exists():
            return False
        with self._lock, closing(self._open()) as store:
            return store.execute(statement, (note_id,)).rowcount > 0

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        store = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
        self._path.chmod(0o600)
        store.execute(_SCHEMA)
        return store
