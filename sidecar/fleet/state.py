"""What `GET /api/brain/fleet` says: of one sidecar by itself, or of all processes on one database."""

import os
import socket
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from sidecar.engine.errors import OperationRefused
from sidecar.journal.port import DEFAULT_POOL, Journal
from sidecar.wire.fleet import FleetState, QueueState, Resources, WorkerInfo, WorkerOrder
from sidecar.wire.tasks import Status

if TYPE_CHECKING:
    from sidecar.journal.postgres.journal import PostgresJournal

#: The pool of a process that runs the tasks of all pools.
ANY_POOL = "*"
HEARTBEAT_SECONDS = 5.0
DEAD_SECONDS = 15.0

_WORKERS = """
SELECT workers.id, pool, host, pid, CASE WHEN lives THEN status ELSE 'dead' END,
    -- Its claims, as they are now; the leader queues those of a dead one again.
    slots, ARRAY(SELECT tasks.id FROM tasks WHERE lease_owner = workers.id AND lives ORDER BY position),
    coalesce(last_heartbeat, last_seen) AS seen, resources
FROM workers LEFT JOIN procrastinate_workers AS hearts ON hearts.id = beat, beats(workers.id, %s) AS lives
ORDER BY seen DESC LIMIT 10000
"""
_QUEUE = "SELECT pool, count(*) FROM tasks WHERE status = 'queued' GROUP BY pool"


class Fleet(Protocol):
    async def state(self) -> FleetState: ...

    async def problem(self) -> str:
        """Why the fleet isn't ready; empty if it is."""

    async def order(self, order: WorkerOrder) -> None: ...


class SingleSidecar:
    """A sidecar on its own journal is all there is of its fleet."""

    def __init__(self, journal: Journal, owner: str, slots: int, tasks: Callable[[], Sequence[str]]) -> None:
        self._journal = journal
        self._owner = owner
        self._slots = slots
        self._tasks = tasks

    async def state(self) -> FleetState:
        queued = (await self._journal.counts()).get(Status.QUEUED, 0)
        worker = WorkerInfo(
            id=self._owner,
            pool=ANY_POOL,
            host=socket.gethostname(),
            pid=os.getpid(),
            status="running",
            slots=self._slots,
            tasks=list(self._tasks()),
            last_seen=datetime.now(UTC),
        )
        queue = QueueState(depth=queued, pools={DEFAULT_POOL: queued} if queued else {})
        return FleetState(leader=self._owner, workers=[worker], queue=queue)

    async def problem(self) -> str:
        return ""

    async def order(self, order: WorkerOrder) -> None:
        message = "This sidecar keeps its tasks in its own file and has no workers. Stop it with Ctrl-C or SIGTERM."
        raise OperationRefused(409, "no_fleet", message)


class SharedFleet:
    def __init__(self, journal: "PostgresJournal") -> None:
        self._journal = journal

    async def state(self) -> FleetState:
        found = await self._journal.query(_WORKERS, (DEAD_SECONDS,))
        workers = [
            WorkerInfo(
                id=row[0],
                pool=row[1],
                host=row[2],
                pid=row[3],
                status=row[4],
                slots=row[5],
                tasks=row[6],
                last_seen=row[7],
                resources=Resources.model_validate(row[8]),
            )
            for row in found
        ]
        pools = {pool: int(count) for pool, count in await self._journal.query(_QUEUE)}
        leading = "SELECT leader FROM leadership WHERE at > now() - make_interval(secs => %s)"
        leader = await self._journal.query(leading, (DEAD_SECONDS,))
        queue = QueueState(depth=sum(pools.values()), pools=pools)
        return FleetState(leader=leader[0][0] if leader else None, workers=workers, queue=queue)

    async def problem(self) -> str:
        fresh = "SELECT at > now() - make_interval(secs => %s) FROM leadership"
        (row,) = await self._journal.query(fresh, (DEAD_SECONDS,))
        if row[0]:
            return ""
        return (
            f"The fleet has had no leader for more than {DEAD_SECONDS:.0f} s: tasks of dead workers and schedules "
            "wait. `brain fleet` shows its processes; restart the one that holds the leader's lock, or the database."
        )

    async def order(self, order: WorkerOrder) -> None:
        update = "UPDATE workers SET wanted = %s WHERE id = %s RETURNING id"
        if not await self._journal.query(update, (order.order, order.worker)):
            raise OperationRefused(404, "unknown_worker", f"There is no worker {order.worker}.")
