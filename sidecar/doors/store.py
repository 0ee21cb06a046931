"""The SQLite file of the doors. One thread writes; jobs that arrive together share a commit.

A thousand deliveries at once cost a few commits, and nothing is acknowledged before its commit.
"""

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

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

    async def do(self, job: Callable[[sqlite3.Connection], Any]) -> Any:
        """The job's result, once it is committed."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.put((job, future))
        return await future

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
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            results = [job(self._connection) for job, _ in batch]
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            for _, future in batch:
                _resolve(future, error=error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            _resolve(future, result)


def _resolve(future: "asyncio.Future[Any]", result: Any = None, error: Exception | None = None) -> None:
    def set_it() -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)

    future.get_loop().call_soon_threadsafe(set_it)
