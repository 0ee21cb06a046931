"""Writes in the order of the calls over one connection, and repeats a write whose answer was lost.

Appends that wait together are one transaction. While the database is away, running tasks wait and requests fail.
"""

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import psycopg

from sidecar.journal.errors import JournalClosed, JournalError, JournalStalled
from sidecar.journal.port import StoredEvent
from sidecar.journal.postgres.connection import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    LOST,
    STATEMENT_SECONDS,
    connect,
    explain,
)
from sidecar.journal.postgres.store import Append, Tasks, outcome_of
from sidecar.journal.writer import GROUP_LIMIT

log = logging.getLogger(__name__)

T = TypeVar("T")
#: How long a request that is being written waits for the database.
REQUEST_SECONDS = 5.0


@dataclass(slots=True, eq=False)
class Operation(Generic[T]):
    #: An append is written together with its neighbours; anything else by itself.
    act: "Append | Callable[[], Awaitable[T]]"
    future: asyncio.Future[T]
    #: A worker waits for the database; a request fails.
    patient: bool
    on_commit: Callable[[T], None] | None = None
    on_end: Callable[[], None] | None = None
    delivered: bool = field(default=False)


class Writer:
    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self.id = secrets.token_hex(8)
        self._number = 0
        self.tasks = Tasks(self.call)
        self._connection: psycopg.AsyncConnection[Any] | None = None
        self._waiting: deque[Operation[Any]] = deque()
        self._group: list[Operation[Any]] = []
        self._wake = asyncio.Event()
        self._closing = False
        self._failing_fast = False
        #: Why the journal can't be written now, or "".
        self.stalled = ""
        self._running = asyncio.create_task(self._run(), name="journal-writer")

    def append(
        self,
        append: Append,
        *,
        patient: bool,
        on_commit: Callable[[Sequence[StoredEvent]], None],
        on_end: Callable[[], None],
    ) -> asyncio.Future[Sequence[StoredEvent]]:
        return self._submit(append, patient, on_commit, on_end)

    def submit(
        self,
        act: Callable[[], Awaitable[T]],
        *,
        patient: bool = False,
        on_commit: Callable[[T], None] | None = None,
    ) -> asyncio.Future[T]:
        return self._submit(act, patient, on_commit, None)

    def _submit(
        self,
        act: "Append | Callable[[], Awaitable[T]]",
        patient: bool,
        on_commit: Callable[[T], None] | None,
        on_end: Callable[[], None] | None,
    ) -> asyncio.Future[T]:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        operation = Operation(act, future, patient, on_commit, on_end)
        if self._closing:
            _refuse(operation, JournalClosed())
        elif self.stalled and (self._failing_fast or not patient):
            _refuse(operation, JournalStalled(self.stalled))
        else:
            self._waiting.append(operation)
            self._wake.set()
        return future

    def fail_fast(self) -> None:
        """From now on no operation waits for a database that is away."""
        self._failing_fast = True

    async def close(self) -> None:
        self._closing = True
        self._wake.set()
        with suppress(asyncio.CancelledError):
            await self._running
        if self._connection is not None:
            await self._connection.close()

    # -- the loop ----------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while self._waiting or not self._closing:
            self._wake.clear()
            if not self._waiting:
                await self._wake.wait()
                continue
            first = self._waiting.popleft()
            self._group = [first]
            if isinstance(first.act, Append):
                while self._waiting and len(self._group) < GROUP_LIMIT and isinstance(self._waiting[0].act, Append):
                    self._group.append(self._waiting.popleft())
            try:
                await self._write(self._group)
            except Exception as error:
                for operation in self._group:
                    _refuse(operation, error)
                if not isinstance(error, JournalError):
                    log.exception("A write to the database failed")

    async def _write(self, group: list[Operation[Any]]) -> None:
        first = group[0]
        if not isinstance(first.act, Append):
            _deliver(first, await first.act())
            return
        try:
            await self.tasks.append_all([each.act for each in group if isinstance(each.act, Append)])
        except psycopg.Error:
            # One of them can't be written at all; which one shows by itself.
            if len(group) == 1:
                raise
            for each in group:
                await self._write_alone(each)
            return
        for each in group:
            _deliver_append(each)

    async def _write_alone(self, operation: Operation[Any]) -> None:
        assert isinstance(operation.act, Append)
        try:
            if not operation.act.ended:
                await self.tasks.append_all([operation.act])
            _deliver_append(operation)
        except psycopg.Error as error:
            _refuse(operation, error)

    # -- calls -------------------------------------------------------------------------------------------------------

    async def call(self, function: str, arguments: Sequence[object]) -> Any:
        """Call a function of the schema that takes the writer and a number, however often the connection is lost."""
        self._number += 1
        return outcome_of(await self.value(_CALLS[function], (self.id, self._number, *arguments)))

    async def value(self, query: str, arguments: Sequence[object]) -> Any:
        """The first column of the first row. The query may run twice, so it must be one that does no harm then."""
        pause = FIRST_PAUSE
        since = asyncio.get_running_loop().time()
        while True:
            try:
                async with asyncio.timeout(STATEMENT_SECONDS):
                    if self._connection is None:
                        self._connection = await connect(self._conninfo)
                    cursor = await self._connection.execute(query, arguments)
                    row = await cursor.fetchone()
                self._recovered()
                return None if row is None else row[0]
            except LOST as error:
                await self._stall(error)
            if self._failing_fast or self._closing:
                raise JournalStalled(self.stalled)
            if asyncio.get_running_loop().time() - since > REQUEST_SECONDS:
                self._drop_impatient(self._group)
            self._drop_impatient(self._waiting)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _stall(self, error: BaseException) -> None:
        message = explain(error)
        if message != self.stalled:
            log.error("%s", message)
            self.stalled = message
        lost, self._connection = self._connection, None
        if lost is not None:
            # Not closed politely: the server may not answer.
            lost.pgconn.finish()

    def _recovered(self) -> None:
        if self.stalled:
            log.warning("The database takes writes again; tasks continue.")
            self.stalled = ""

    def _drop_impatient(self, operations: "deque[Operation[Any]] | list[Operation[Any]]") -> None:
        for operation in operations:
            if not operation.patient:
                _refuse(operation, JournalStalled(self.stalled))
        if operations is self._waiting:
            self._waiting = deque(each for each in self._waiting if each.patient)


_CALLS = {
    "append_all": (
        "SELECT append_all(%s, %s, %s::text[], %s::bigint[], %s::integer[], %s::bigint[], %s::text[], %s::text[],"
        " %s::boolean[], %s::boolean[], %s::bigint[], %s::boolean[], %s::boolean[], %s::integer[], %s::text[],"
        " %s::text[], %s::text[], %s::integer[], %s::text[], %s::bytea[], %s::bigint[], %s::bytea[])"
    ),
    "create_task": (
        "SELECT create_task(%s, %s, %s, %s, %s::integer, %s, %s, %s::smallint, %s, %s, %s, %s, %s, %s, %s, %s,"
        " %s::text[], %s::text[], %s::text[], %s::text[], %s::bytea[], %s::bigint[], %s::bytea[])"
    ),
    "claim_named": "SELECT claim_at(%s, %s, %s, %s, free_task(%s))",
    "claim_lost": "SELECT claim_at(%s, %s, %s, %s, lost_task(%s, %s, %s))",
}


def _deliver_append(operation: Operation[Any]) -> None:
    assert isinstance(operation.act, Append)
    if operation.act.error is not None:
        _refuse(operation, operation.act.error)
    else:
        _deliver(operation, operation.act.result)


def _deliver(operation: Operation[Any], result: Any) -> None:
    if operation.delivered:
        return
    operation.delivered = True
    if operation.on_commit is not None:
        operation.on_commit(result)
    if operation.on_end is not None:
        operation.on_end()
    if not operation.future.done():
        operation.future.set_result(result)


def _refuse(operation: Operation[Any], error: BaseException) -> None:
    if operation.delivered:
        return
    operation.delivered = True
    if operation.on_end is not None:
        operation.on_end()
    if not operation.future.done():
        operation.future.set_exception(error)
        # A caller that didn't await it gets the error at its next awaited write.
        operation.future.exception()
