"""Keeps the journal within its caps: drops old tasks, then contents for undo, then the oldest ended tasks."""

import sqlite3
from collections.abc import Callable
from typing import NamedTuple

from sidecar.journal.blobs import Blobs
from sidecar.journal.port import Retention
from sidecar.wire.tasks import ENDED

#: Pages given back to the disk at a time (8 MiB), so that a writer never waits long.
_PAGES_AT_ONCE = 2_048


class Pruned(NamedTuple):
    """How many tasks were dropped, and of how many more only the contents for undo."""

    tasks: int
    contents: int


class Pruner:
    """Used only by the writer's thread; `drop` deletes one task."""

    def __init__(self, connection: sqlite3.Connection, blobs: Blobs, drop: Callable[[int, str], None]) -> None:
        self._connection = connection
        self._blobs = blobs
        self._drop = drop

    def prune(self, retention: Retention) -> Pruned:
        """Drop what is too old, then what is over the size cap: contents for undo first, then whole tasks.

        Oldest first, and only a few at a time, so that a writer never waits long.
        """
        tasks = contents = 0
        for position, task_id, created_at in self._ended("true"):
            if not retention.is_too_old(created_at):
                break
            self._drop(position, task_id)
            tasks += 1
        self._release_pages(tasks)
        if self.size() > retention.bytes:
            for position, _, _ in self._ended("position IN (SELECT task FROM blob_uses)"):
                self._connection.execute("DELETE FROM blob_uses WHERE task = ?", (position,))
                contents += 1
                self._release_pages(1)
                if self.size() <= retention.bytes:
                    return Pruned(tasks, contents)
            for position, task_id, _ in self._ended("true") if not contents else ():
                self._drop(position, task_id)
                tasks += 1
                self._release_pages(1)
                if self.size() <= retention.bytes:
                    break
        return Pruned(tasks, contents)

    def _ended(self, condition: str) -> list[tuple[int, str, str]]:
        query = f"SELECT position, id, created_at FROM tasks WHERE status IN (?, ?, ?, ?) AND {condition}"  # noqa: S608
        return self._connection.execute(f"{query} ORDER BY position LIMIT 20", tuple(ENDED)).fetchall()

    def _release_pages(self, dropped: int) -> None:
        if dropped:
            self._blobs.sweep()
        (free,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        for _ in range(min(free, _PAGES_AT_ONCE)):
            # `execute` takes only the first step of the pragma, which is one page.
            self._connection.execute("PRAGMA incremental_vacuum(1)")

    def size(self) -> int:
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        (free,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        (page_size,) = self._connection.execute("PRAGMA page_size").fetchone()
        used: int = (pages - free) * page_size
        return used
