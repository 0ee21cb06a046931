"""The SQLite file of the doors. One thread writes; jobs that arrive together share a commit.

A thousand deliveries at once cost a few commits, and nothing is acknowledged before its commit.
"""

import asyncio
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

FILE = "doors.db"
_BATCH = 500

_Job = tuple[Callable[[sqlite3.Connection], Any], "asyncio.Future[Any]"]


class DoorsStore:
    def __init__(self, file: Path) -> None:
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
        self._connection = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="doors-store", daemon=True)
        self._thread.start()

    def create(self, schema: str) -> None:
        """Before the first job."""
        self._connection.executescript(schema)

    def add_column(self, table: str, name: str, kind: str) -> None:
        """Unless the table has it; before the first job."""
        if name not in {row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")}:
            self._connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")

    async def do(self, job: Callable[[sqlite3.Connection], Any]) -> Any:
        """The job's result, once it is committed."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.put((job, future))
        return await future

    async def rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        found: list[Any] = await self.do(lambda store: store.execute(sql, values).fetchall())
        return found

    async def row(self, sql: str, values: Sequence[object] = ()) -> Any:
        """The first row; `None` if there is none."""
        return await self.do(lambda store: store.execute(sql, values).fetchone())

    async def run(self, sql: str, values: Sequence[object] = ()) -> None:
        await self.do(lambda store: store.execute(sql, values))

    async def close(self) -> None:
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)
        self._connection.close()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            batch, ended = [job], False
            while len(batch) < _BATCH and not self._jobs.empty():
                more = self._jobs.get()
                if more is None:
                    ended = True
                    break
                batch.append(more)
            self._commit(batch)
            if ended:
                return

    def _commit(self, batch: list[_Job]) -> None:
        results: list[Any] = []
        failure: Exception | None = None
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            results = [job(self._connection) for job, _ in batch]
            self._connection.execute("COMMIT")
        except Exception as error:
            with suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            if len(batch) > 1 and not isinstance(error, sqlite3.Error):
                # One of them can't be carried out, such as for a text that can't be encoded; the others can.
                for each in batch:
                    self._commit([each])
                return
            failure = error
        # One call for all: each writes to a pipe that wakes the loop.
        batch[0][1].get_loop().call_soon_threadsafe(_resolve, batch, results, failure)


def _resolve(batch: list[_Job], results: list[Any], failure: Exception | None) -> None:
    for place, (_, future) in enumerate(batch):
        if future.done():
            continue
        if failure is not None:
            future.set_exception(failure)
        else:
            future.set_result(results[place])


_DEAD = """
SELECT 'in', id, door, subject, note, received FROM deliveries WHERE state = 'dead'
UNION ALL SELECT 'out', id, key, target, note, NULL FROM outbox WHERE state = 'dead'
ORDER BY 1, 2 DESC LIMIT 500
"""


class DeadItem(NamedTuple):
    """A delivery that came `in`, or a message that should have gone `out`; `name` is its door or its key."""

    way: Literal["in", "out"]
    id: int
    name: str
    subject: str
    why: str
    received: float | None

    @property
    def label(self) -> str:
        return f"{self.way}-{self.id}"


def list_dead(data_dir: Path) -> list[DeadItem]:
    with closing(_open(data_dir)) as store:
        return [DeadItem(*row) for row in store.execute(_DEAD)]


def retry_dead(data_dir: Path, labels: list[str]) -> list[str]:
    """Let these be tried again, or all; returns those that will be. A running `brain doors` soon sees them."""
    chosen = [item for item in list_dead(data_dir) if not labels or item.label in labels]
    with closing(_open(data_dir)) as store, store:
        for item in chosen:
            table, state = ("deliveries", "stored") if item.way == "in" else ("outbox", "waiting")
            # Messages keep their attempts: an earlier try may have succeeded, so the next one looks first.
            again = "attempts = 0" if item.way == "in" else "attempts = 1"
            sql = f"UPDATE {table} SET state = ?, next_at = ?, {again} WHERE id = ? AND state = 'dead'"  # noqa: S608
            store.execute(sql, (state, time.time(), item.id))
    return [item.label for item in chosen]


def _open(data_dir: Path) -> sqlite3.Connection:
    file = data_dir / FILE
    return sqlite3.connect(file, timeout=10) if file.exists() else _empty()


def _empty() -> sqlite3.Connection:
    """Where `brain doors` never ran."""
    store = sqlite3.connect(":memory:")
    store.execute("CREATE TABLE deliveries (id, door, subject, note, received, state, next_at, attempts)")
    store.execute("CREATE TABLE outbox (id, key, target, note, state, next_at, attempts)")
    return store
