"""Notes about a workspace that outlast its index: decisions and patterns, and proposed standards and skills.

An agent may only propose a note; a person accepts it. Proposed notes are never shown to an agent.
"""

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, NamedTuple

#: `standards` and `skills` become files of the workspace when a person accepts them.
NoteKind = Literal["decisions", "patterns", "standards", "skills"]
NoteState = Literal["proposed", "accepted"]
#: The name of a workspace here: a clone or worktree has that of its repository.
Place = Callable[[str], str]

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

    def __init__(self, data_dir: Path, place: Place = os.path.realpath) -> None:
        self.place = place
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
        ((count,),) = self._ask("SELECT count(*) FROM notes WHERE workspace = ?", (workspace,), writes=True)
        if count >= MAX_NOTES:
            raise TooManyNotes
        self._ask("INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id", note, writes=True)
        return note

    def list(self, workspace: str, *, accepted: bool = False) -> Sequence[Note]:
        """Newest first."""
        rows = self._ask("SELECT * FROM notes WHERE workspace = ? ORDER BY at DESC", (workspace,))
        notes = [Note(*row) for row in rows]
        return [note for note in notes if note.state == "accepted"] if accepted else notes

    def all(self) -> Sequence[Note]:
        """Of all workspaces."""
        return [Note(*row) for row in self._ask("SELECT * FROM notes ORDER BY at", ())]

    def get(self, note_id: str) -> Note | None:
        rows = self._ask("SELECT * FROM notes WHERE id = ?", (note_id,))
        return Note(*rows[0]) if rows else None

    def accept(self, note_id: str) -> bool:
        return bool(self._ask("UPDATE notes SET state = 'accepted' WHERE id = ? RETURNING id", (note_id,)))

    def remove(self, note_id: str) -> bool:
        return bool(self._ask("DELETE FROM notes WHERE id = ? RETURNING id", (note_id,)))

    def _ask(self, statement: str, values: Sequence[object], *, writes: bool = False) -> Sequence[Any]:
        """Nothing is written to look at notes, or to change one that isn't there."""
        if not writes and not self._path.exists():
            return ()
        with self._lock, closing(self._open()) as store:
            return store.execute(statement, values).fetchall()

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        store = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
        self._path.chmod(0o600)
        store.execute(_SCHEMA)
        return store
