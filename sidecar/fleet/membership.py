"""A process in the fleet: its heartbeat, its tasks and, if it leads, its duties.

Beside the heartbeat it says every 5 seconds how it is, and does what the fleet asks.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sidecar.engine.engine import Engine
from sidecar.fleet.bus import Bus
from sidecar.fleet.dispatch import Dispatcher
from sidecar.fleet.leader import Duty, Leader
from sidecar.fleet.state import HEARTBEAT_SECONDS
from sidecar.journal.errors import JournalError
from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.wire.fleet import Resources, WorkerStatus

log = logging.getLogger(__name__)

_BEAT = """
INSERT INTO workers (id, pool, host, pid, status, slots, tasks, resources, beat, last_seen)
VALUES (%s, %s, %s, %s, %s, %s, '{}', %s, %s, now())
ON CONFLICT (id) DO UPDATE SET status = excluded.status, resources = excluded.resources, beat = excluded.beat,
    last_seen = now()
RETURNING wanted, beat IS NULL OR EXISTS (SELECT FROM procrastinate_workers AS hearts WHERE hearts.id = beat)
"""


@dataclass(frozen=True, slots=True)
class Member:
    """A process that beats."""

    id: str
    pool: str
    slots: int
    runs_tasks: bool = True


class Membership:
    def __init__(
        self,
        journal: PostgresJournal,
        dispatcher: Dispatcher,
        member: Member,
        tasks: Callable[[], Sequence[str]],
        drain: Callable[[], None],
        stop: Callable[[], None],
        alive_file: Path | None = None,
    ) -> None:
        self._journal = journal
        self._alive_file = alive_file
        self._dispatcher = dispatcher
        self._member = member
        self._tasks = tasks
        self._drain = drain
        self._stop = stop
        self._draining = False
        self._beating: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self._beat()
        self._touch()
        self._beating = asyncio.create_task(self._beat_forever(), name="heartbeat")

    def drain(self) -> None:
        """Finish the running tasks, then stop the process."""
        if not self._draining:
            log.info("The worker finishes its tasks and claims no more.")
            self._draining = True
            self._drain()

    async def close(self) -> None:
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.gather(self._beating, return_exceptions=True)
        with suppress(JournalError, TimeoutError):
            async with asyncio.timeout(1):
                await self._journal.query("DELETE FROM workers WHERE id = %s RETURNING id", (self._member.id,))

    async def _beat_forever(self) -> None:
        while True:
            await asyncio.sleep(1 if self._draining else HEARTBEAT_SECONDS)
            self._touch()
            with suppress(JournalError):
                await self._beat()
                await self._journal.set_clock()

    def _touch(self) -> None:
        """For a supervisor that restarts a process that hangs; one that waits for the database doesn't hang."""
        if self._alive_file is not None:
            with suppress(OSError):
                self._alive_file.touch()

    async def _beat(self) -> None:
        member = self._member
        status: WorkerStatus = "draining" if self._draining else "running" if member.runs_tasks else "serving"
        values = (
            member.id,
            member.pool,
            socket.gethostname(),
            os.getpid(),
            status,
            member.slots,
            _resources().to_json(),
            self._dispatcher.beat,
        )
        ((wanted, beats),) = await self._journal.query(_BEAT, values)
        if not beats:
            self._dispatcher.register_again()
        if wanted == "stop":
            self._stop()
        elif wanted == "drain" or self._draining:
            self.drain()
            if not self._tasks():
                self._stop()


def _resources() -> Resources:
    memory = 0
    with suppress(OSError, ValueError, IndexError), open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        memory = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return Resources(load=os.getloadavg()[0], memory_bytes=memory)


class Node:
    """This process as a member; `stop` ends it. Without `duties` it never leads."""

    def __init__(
        self,
        journal: PostgresJournal,
        engine: Engine,
        member: Member,
        redis_url: str,
        stop: Callable[[], None],
        duties: tuple[Duty, ...] | None,
        alive_file: Path | None = None,
    ) -> None:
        self._journal = journal
        self._engine = engine
        self._dispatcher = Dispatcher(journal.conninfo, engine, member.pool, member.slots)
        self._membership = Membership(
            journal, self._dispatcher, member, lambda: engine.running, engine.drain, stop, alive_file
        )
        bus = (Bus(journal, redis_url).run,) if redis_url else ()
        self._leader = None if duties is None else Leader(journal, member.id, (*duties, *bus))

    async def start(self) -> None:
        self._journal.on_written_elsewhere = self._engine.look
        await self._dispatcher.start()
        await self._membership.start()
        if self._leader is not None:
            self._leader.start()

    def drain(self) -> None:
        self._membership.drain()

    async def close(self) -> None:
        """From now on no task is claimed here. Those that run keep their leases until the engine stops."""
        # A claim that waits for the database would hold up the dispatcher.
        self._journal.fail_fast()
        if self._leader is not None:
            await self._leader.close()
        await self._dispatcher.close()
        await self._membership.close()
