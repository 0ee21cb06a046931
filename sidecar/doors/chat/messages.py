"""What we posted in chats: message ids to edit, buttons and what pressing them means, questions without an answer."""

import hashlib
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from sidecar.doors.chat.port import Button, Drawn
from sidecar.doors.store import DoorsStore

#: Older messages can no longer be edited, nor their buttons pressed.
REMEMBERED = 20_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS chat_messages (
    id INTEGER PRIMARY KEY, task_id TEXT NOT NULL, name TEXT NOT NULL, subject TEXT NOT NULL, message TEXT NOT NULL,
    question TEXT NOT NULL DEFAULT '', UNIQUE (task_id, name));
CREATE INDEX IF NOT EXISTS chat_places ON chat_messages (subject, id);
CREATE TABLE IF NOT EXISTS chat_buttons (
    id INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, subject TEXT NOT NULL, task_id TEXT NOT NULL,
    verb TEXT NOT NULL, item TEXT NOT NULL, choice TEXT NOT NULL);
"""


class Posted(NamedTuple):
    subject: str
    message: str


class StoredButton(NamedTuple):
    subject: str
    task_id: str
    verb: str
    item: str
    choice: str


def chat_of(subject: str) -> str:
    """The chat that a subject such as `slack:C1:17.2` is in."""
    return subject.split(":", 2)[1]


class ChatMessages:
    def __init__(self, store: DoorsStore) -> None:
        store.create(_SCHEMA)
        self._store = store

    async def draw(self, subject: str, task_id: str, name: str, buttons: Sequence[Button]) -> list[Drawn]:
        """Remember what each button means. The same message gets the same tokens again."""
        tokens = [
            hashlib.sha256(f"{task_id}\n{name}\n{number}".encode()).hexdigest()[:32] for number in range(len(buttons))
        ]

        def insert(store: sqlite3.Connection) -> None:
            sql = (
                "INSERT OR IGNORE INTO chat_buttons (token, subject, task_id, verb, item, choice) VALUES (?,?,?,?,?,?)"
            )
            for token, (_, verb, item, choice) in zip(tokens, buttons, strict=True):
                store.execute(sql, (token, subject, task_id, verb, item, choice))
            store.execute("DELETE FROM chat_buttons WHERE id <= (SELECT max(id) FROM chat_buttons) - ?", (REMEMBERED,))

        await self._store.do(insert)
        return [Drawn(button.label, token) for button, token in zip(buttons, tokens, strict=True)]

    async def pressed(self, token: str) -> StoredButton | None:
        sql = "SELECT subject, task_id, verb, item, choice FROM chat_buttons WHERE token = ?"
        row = await self._store.row(sql, (token,))
        return StoredButton(*row) if row else None

    async def add(self, task_id: str, name: str, posted: Posted, alias: str, question: str = "") -> None:
        """`alias` is the subject that an answer to this message has; it leads to the same task."""

        def insert(store: sqlite3.Connection) -> None:
            sql = "INSERT OR REPLACE INTO chat_messages (task_id, name, subject, message, question) VALUES (?,?,?,?,?)"
            store.execute(sql, (task_id, name, *posted, question))
            store.execute("INSERT OR IGNORE INTO subjects VALUES (?, ?)", (alias, task_id))
            store.execute(
                "DELETE FROM chat_messages WHERE id <= (SELECT max(id) FROM chat_messages) - ?", (REMEMBERED,)
            )

        await self._store.do(insert)

    async def find(self, task_id: str, name: str) -> Posted | None:
        sql = "SELECT subject, message FROM chat_messages WHERE task_id = ? AND name = ?"
        row = await self._store.row(sql, (task_id, name))
        return Posted(*row) if row else None

    async def find_status(self, task_id: str) -> Posted | None:
        """The message that shows the task's progress in its present round."""
        sql = "SELECT subject, message FROM chat_messages WHERE task_id = ? AND name LIKE 'status.%' ORDER BY id DESC"
        row = await self._store.row(sql, (task_id,))
        return Posted(*row) if row else None

    async def first_of(self, subject: str) -> str:
        """Our first message about a subject; empty if there is none."""
        sql = "SELECT message FROM chat_messages WHERE subject = ? ORDER BY id LIMIT 1"
        row = await self._store.row(sql, (subject,))
        return row[0] if row else ""

    async def open_question(self, task_id: str) -> str:
        """The id of a question that any text answers; empty if there is none."""
        sql = "SELECT question FROM chat_messages WHERE task_id = ? AND question != '' ORDER BY id DESC LIMIT 1"
        row = await self._store.row(sql, (task_id,))
        return row[0] if row else ""

    async def close_question(self, task_id: str, name: str) -> None:
        sql = "UPDATE chat_messages SET question = '' WHERE task_id = ? AND name = ?"
        await self._store.run(sql, (task_id, name))
