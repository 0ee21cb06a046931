"""The one thread that writes. It commits waiting operations in groups.

When a write fails (disk full, sync error) it opens the file again and reads it, and writes only what isn't there.
Meanwhile running tasks wait, and requests fail at once.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sidecar.journal.errors import DuplicateRecord, JournalClosed, JournalStalled
from sidecar.journal.store import Store

log = logging.getLogger(__name__)

T = TypeVar("T")
GROUP_LIMIT = 256
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0


@dataclass(slots=True)
class Operation(Generic[T]):
    act: Callable[[Store], T]
    future: asyncio.Future[T]
    sync: bool
    #: A worker waits for a stalled disk; a request fails at once.
    patient: bool
    on_commit: Callable[[T], None] | None = None
    #: Called once, after `on_commit` or after a failure.
    on_end: Callable[[], None] | None = None
    result: T | None = None
    error: BaseException | None = None


class Writer:
    def __init__(self, open_store: Callable[[], Store], loop: asyncio.AbstractEventLoop) -> None:
        self._open_store = open_store
        self._loop = loop
        self._store = open_store()
        #: Operations of this iteration of the event loop, handed over at its end with one wake-up.
        self._gathered: list[Operation[Any]] = []
        self._queue: queue.SimpleQueue[list[Operation[Any]] | None] = queue.SimpleQueue()
        #: Taken from the queue while the disk was stalled; comes next.
        self._held: list[Operation[Any]] = []
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self._thread.start()
        #: Why the journal can't be written now, or "".
        self.stalled = ""
        self._failing_fast = False

    def submit(
        self,
        act: Callable[[Store], T],
        *,
        sync: bool = False,
        patient: bool = False,
        on_commit: Callable[[T], None] | None = None,
        on_end: Callable[[], None] | None = None,
    ) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self._loop.create_future()
        if self._closing.is_set():
            future.set_exception(JournalClosed())
        elif self.stalled and (self._failing_fast or not patient):
            future.set_exception(JournalStalled(self.stalled))
        else:
            if not self._gathered:
                self._loop.call_soon(self._hand_over)
            self._gathered.append(Operation(act, future, sync, patient, on_commit, on_end))
            return future
        # A caller that doesn't await it gets the error at its next awaited write.
        future.exception()
        if on_end is not None:
            on_end()
        return future

    def fail_fast(self) -> None:
        """From now on no operation waits for a stalled disk."""
        self._failing_fast = True

    def _hand_over(self) -> None:
        if self._gathered:
            self._queue.put(self._gathered)
            self._gathered = []

    async def close(self) -> None:
        if not self._closing.is_set():
            self._hand_over()
            self._closing.set()
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    # -- in the thread -----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            group, last = self._next_group()
            if group:
                self._commit(group)
                self._loop.call_soon_threadsafe(self._deliver, group)
            if last:
                self._store.close()
                return

    def _next_group(self) -> tuple[list[Operation[Any]], bool]:
        group, self._held = self._held, []
        while len(group) < GROUP_LIMIT:
            try:
                waiting = self._queue.get(block=not group)
            except queue.Empty:
                return group, False
            if waiting is None:
                return group, True
            group += waiting
        return group, False

    def _commit(self, group: list[Operation[Any]]) -> None:
        while True:
            number = self._store.commits + 1
            try:
                self._write(group)
                break
            except sqlite3.Error as error:
                self._stall(error)
            if not self._reopen(group):
                self._refuse(group[:])
                group.clear()
                return
            if self._store.commits >= number:
                break
            self._drop_impatient(group)
        if self.stalled:
            log.warning("The journal is writable again; tasks continue.")
            self.stalled = ""

    def _write(self, group: list[Operation[Any]]) -> None:
        """One transaction for all. If an operation fails after it wrote, start again without it."""
        one_by_one = False
        while not self._written(group, one_by_one):
            self._store.rollback()
            one_by_one = True
        self._store.commit(proof=bool(self.stalled))

    def _written(self, group: list[Operation[Any]], one_by_one: bool) -> bool:
        store = self._store
        store.begin(sync=any(operation.sync for operation in group))
        try:
            for operation in group:
                if operation.error is not None:
                    continue
                before = store.changes
                try:
                    operation.result = operation.act(store)
                    if one_by_one:
                        store.bind()
                except (sqlite3.Error, DuplicateRecord):
                    raise
                except Exception as refusal:
                    operation.error = refusal
                    if store.changes != before:
                        return False
            store.bind()
        except DuplicateRecord as refusal:
            # One statement for all wouldn't say which one is the duplicate.
            if one_by_one:
                operation.error = refusal
            return False
        return True

    def _stall(self, error: sqlite3.Error) -> None:
        message = explain(error)
        if message != self.stalled:
            log.error("%s", message)
            self.stalled = message
        self._store.close()

    def _reopen(self, group: list[Operation[Any]]) -> bool:
        """Open the file again, however long it takes; false if the journal was closed meanwhile."""
        pause = FIRST_PAUSE
        while not self._closing.wait(pause):
            try:
                self._store = self._open_store()
                return True
            except sqlite3.Error as error:
                log.debug("Not yet: %s", error)
            self._drop_impatient(group)
            pause = min(pause * 2, LONGEST_PAUSE)
        return False

    def _drop_impatient(self, group: list[Operation[Any]]) -> None:
        self._take_in()
        for waiting in (group, self._held):
            refused = [operation for operation in waiting if self._failing_fast or not operation.patient]
            waiting[:] = [operation for operation in waiting if operation.patient and not self._failing_fast]
            self._refuse(refused)

    def _take_in(self) -> None:
        """Take newer operations off the queue, apart from the group, which may be on disk in part."""
        with suppress(queue.Empty):
            while (waiting := self._queue.get_nowait()) is not None:
                self._held += waiting
            self._queue.put(None)

    def _refuse(self, operations: list[Operation[Any]]) -> None:
        for operation in operations:
            operation.error = JournalStalled(self.stalled)
        if operations:
            self._loop.call_soon_threadsafe(self._deliver, operations)

    # -- in the event loop -------------------------------------------------------------------------------------------

    def _deliver(self, group: list[Operation[Any]]) -> None:
        for operation in group:
            if operation.error is None and operation.on_commit is not None:
                operation.on_commit(operation.result)
            if operation.on_end is not None:
                operation.on_end()
            if operation.future.cancelled():
                continue
            if operation.error is None:
                operation.future.set_result(operation.result)
            else:
                operation.future.set_exception(operation.error)
                # A caller that didn't await it gets the error at its next awaited write.
                operation.future.exception()


def explain(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorname", "")
    if code == "SQLITE_FULL":
        return (
            "The disk of the data directory is full. Running tasks have paused and nothing is lost; "
            "they continue by themselves once there is space again."
        )
    if code.startswith("SQLITE_IOERR"):
        return (
            f"The disk of the data directory reports an error ({error}). Running tasks have paused; "
            "the sidecar keeps trying."
        )
    if code in ("SQLITE_CORRUPT", "SQLITE_NOTADB"):
        return (
            f"The journal is damaged ({error}). Restart the sidecar: it sets the file aside and keeps what it can read."
        )
    return f"The journal can't be written ({error}). Running tasks have paused; the sidecar keeps trying."
