"""One process leads: it queues the tasks of dead workers again, defers lost jobs again, and publishes events.

An advisory lock on a connection of its own decides who. A leader that dies loses the connection, and with it the lock,
at once; one that is stopped keeps both, so the others end its connection when it hasn't been at work for a while. It
keeps nothing in memory: a new leader reads what there is to do from the database.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg

from sidecar.engine.worker import FLEET_LEASE_SECONDS
from sidecar.fleet.state import DEAD_SECONDS, HEARTBEAT_SECONDS
from sidecar.journal.errors import JournalError
from sidecar.journal.postgres.connection import LONGEST_PAUSE, LOST, STATEMENT_SECONDS, connect
from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import Status

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
#: A leader that was at work longer ago than this is stopped; the others end its connection.
STALE_SECONDS = 5.0
#: After an outage of the database as long as this, leases of living workers may have expired; they renew them first.
OUTAGE_SECONDS = FLEET_LEASE_SECONDS - HEARTBEAT_SECONDS - 2
GRACE_SECONDS = HEARTBEAT_SECONDS + 1
_FORGET = "DELETE FROM workers WHERE last_seen < now() - interval '10 minutes'"
_REPAIR = "SELECT repair_jobs(%s)"
#: How often it looks for tasks without a job.
REPAIR_SECONDS = HEARTBEAT_SECONDS
LOCK = "hashtext('brain leader ' || current_schema())"

#: Says how long ago this leader, or the one before it, last reached the database.
_LEAD = """
UPDATE leadership SET leader = %s, backend = pg_backend_pid(), at = clock_timestamp()
FROM (SELECT at AS before FROM leadership) AS last
RETURNING extract(epoch FROM clock_timestamp() - before)::double precision
"""

#: Only the connection that holds the lock: after a restart another one may have its number.
_END_STALE = f"""
SELECT pg_terminate_backend(backend) FROM leadership JOIN pg_locks ON pid = backend
WHERE at < now() - make_interval(secs => %s) AND locktype = 'advisory' AND granted
    AND objid::bigint = ({LOCK}::bigint & 4294967295)
"""  # noqa: S608

#: Work of the leader that goes on until it is cancelled, such as the event bus and schedules.
Duty = Callable[[], Awaitable[None]]


class Leader:
    def __init__(self, journal: PostgresJournal, member: str, duties: tuple[Duty, ...] = ()) -> None:
        self._journal = journal
        self._member = member
        self._duties = duties
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._running = asyncio.create_task(self._run(), name="leader")

    async def close(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            connection: psycopg.AsyncConnection[Any] | None = None
            try:
                connection = await connect(self._journal.conninfo)
                while True:
                    if await self._takes_over(connection):
                        await self._lead(connection)
                    await asyncio.sleep(LOOK_SECONDS)
            except (JournalError, *LOST) as error:
                log.debug("Doesn't lead: %s", error)
            finally:
                if connection is not None:
                    connection.pgconn.finish()
            await asyncio.sleep(LONGEST_PAUSE)

    async def _takes_over(self, connection: psycopg.AsyncConnection[Any]) -> bool:
        if await _value(connection, f"SELECT pg_try_advisory_lock({LOCK})"):
            return True
        await _value(connection, _END_STALE, STALE_SECONDS)
        return False

    async def _lead(self, connection: psycopg.AsyncConnection[Any]) -> None:
        log.info("This process leads the fleet.")
        idle = await _value(connection, _LEAD, self._member)
        duties = [asyncio.create_task(_go_on(duty)) for duty in self._duties]
        loop = asyncio.get_running_loop()
        patient_until = repair_at = 0.0
        try:
            while True:
                if idle > OUTAGE_SECONDS:
                    patient_until = loop.time() + GRACE_SECONDS
                if loop.time() >= patient_until:
                    await self._queue_again()
                if loop.time() >= repair_at:
                    await self._repair(connection)
                    repair_at = loop.time() + REPAIR_SECONDS
                await asyncio.sleep(LOOK_SECONDS)
                idle = await _value(connection, _LEAD, self._member)
        finally:
            for duty in duties:
                duty.cancel()
            await asyncio.gather(*duties, return_exceptions=True)

    async def _repair(self, connection: psycopg.AsyncConnection[Any]) -> None:
        if made := await _value(connection, _REPAIR, DEAD_SECONDS):
            log.warning("%d queued tasks had no job; they have one again.", made)
        await connection.execute(_FORGET)

    async def _queue_again(self) -> None:
        """The claim shuts the dead worker out, so nothing is written between this and the next claim."""
        journal = self._journal
        # The same moment for all: if the database is away meanwhile, leases that expire then don't count.
        now = journal.clock()
        while claim := await journal.claim_lost(self._member, now, FLEET_LEASE_SECONDS):
            log.warning("The worker of task %s is dead; another one continues it.", claim.task_id)
            if claim.status in (Status.QUEUED, Status.CANCELLING):
                await journal.release(claim.task_id)
                continue
            died = StatusEvent(status=Status.INTERRUPTED, reason="The worker died while the task was running.")
            again = StatusEvent(status=Status.QUEUED, reason="resumed on another worker")
            await journal.append(claim.task_id, [died, again], fence=claim.fence)


async def _value(connection: psycopg.AsyncConnection[Any], query: str, *values: object) -> Any:
    async with asyncio.timeout(STATEMENT_SECONDS):
        row = await (await connection.execute(query, values)).fetchone()
    return None if row is None else row[0]


async def _go_on(duty: Duty) -> None:
    """A duty that fails begins again."""
    while True:
        try:
            await duty()
        except JournalError as error:
            log.debug("A duty of the leader paused: %s", error)
        except Exception:
            log.exception("A duty of the leader failed and begins again")
        await asyncio.sleep(LONGEST_PAUSE)
