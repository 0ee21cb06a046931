"""Jobs of procrastinate tell a worker which task to claim, and its heartbeat tells the fleet that the worker lives.

The database defers a job with each task that becomes free. A job ends as soon as its task is claimed here, or proves to
need no run: it is a hint to look, and the journal's fenced claim alone decides who runs what.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Protocol

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.job_context import JobContext
from procrastinate.jobs import DeleteJobCondition, Job, Status
from procrastinate.manager import JobManager
from procrastinate.worker import Worker

from sidecar.fleet.state import ANY_POOL, DEAD_SECONDS, HEARTBEAT_SECONDS
from sidecar.journal.postgres.connection import CONNECT_SECONDS, LONGEST_PAUSE

log = logging.getLogger(__name__)

#: What the database calls it, too.
RUN_TASK = "run_task"
#: Notifications may be lost.
POLL_SECONDS = 2.0
START_SECONDS = 10.0


#: A worker of all pools leaves the schedules to the leader.
_FETCH = """
SELECT id, status, task_name, priority, lock, queueing_lock, args, scheduled_at, queue_name, attempts, worker_id
FROM procrastinate_fetch_job_v2(coalesce(%(queues)s::varchar[], task_queues()), %(worker_id)s)
"""


class Runner(Protocol):
    """The engine, as far as it is dispatched to."""

    @property
    def free_slots(self) -> int: ...

    def call_when_free(self, callback: Callable[[], None]) -> None: ...

    async def run_named(self, task_id: str) -> bool:
        """Whether the task was free, and runs here now."""


class Dispatcher:
    """Without slots it only beats."""

    def __init__(self, conninfo: str, engine: Runner, pool: str, slots: int) -> None:
        # It tells of every job.
        logging.getLogger("procrastinate").setLevel(logging.WARNING)
        logging.getLogger("procrastinate.worker").addFilter(_is_no_outage)
        self._engine = engine
        self._queues = None if pool == ANY_POOL else [pool]
        self._slots = slots
        connector = PsycopgConnector(
            conninfo=conninfo, min_size=1, max_size=2, timeout=CONNECT_SECONDS, configure=_commit_each
        )
        self._app = App(connector=connector)
        self._manager = _Jobs(connector, self)
        self._app.job_manager = self._manager
        self._app.task(name=RUN_TASK, pass_context=True)(self._run_task)
        self._worker: _Worker | None = None
        self._in_flight = 0
        self._changed = asyncio.Event()
        #: The row of its heartbeat.
        self.beat: int | None = None
        self.registered = asyncio.Event()
        self._closing = False
        self._running: asyncio.Task[None] | None = None
        engine.call_when_free(self._changed.set)

    async def start(self) -> None:
        """Without waiting long: until its heartbeat is there, the worker counts as dead, but its claims hold."""
        self._running = asyncio.create_task(self._run(), name="dispatcher")
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                await self.registered.wait()

    def register_again(self) -> None:
        """Its heartbeat's row is gone: the process was suspended, and others took it for dead."""
        if self._worker is not None:
            self._worker.stop()

    async def close(self) -> None:
        self._closing = True
        if self._running is not None:
            self.register_again()
            await asyncio.wait([self._running], timeout=CONNECT_SECONDS)
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self) -> None:
        """procrastinate's worker ends when it loses the database, so it begins again."""
        while not self._closing:
            try:
                async with self._app.open_async():
                    if not self._closing:
                        await self._work()
            except ConnectorException as error:
                log.debug("No jobs: %s", error)
            except Exception:
                log.exception("The dispatcher failed and begins again")
            if not self._closing:
                await asyncio.sleep(LONGEST_PAUSE)

    async def _work(self) -> None:
        self._in_flight = 0
        self._worker = _Worker(
            self._app,
            queues=self._queues,
            name=None,  # so all of it is logged by `procrastinate.worker`
            concurrency=max(self._slots, 1),
            fetch_job_polling_interval=POLL_SECONDS,
            delete_jobs=DeleteJobCondition.ALWAYS,
            install_signal_handlers=False,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=DEAD_SECONDS,
        )
        self._worker.changed = self._changed
        await self._worker.run()  # type: ignore[no-untyped-call]

    async def _run_task(self, context: JobContext, task_id: str) -> None:
        try:
            if await self._engine.run_named(task_id) and context.job.queueing_lock == task_id:
                self._manager.claimed.add(context.job.id)
        except Exception as error:
            # The leader defers a job again for each task that has none.
            log.error("Could not claim task %s: %s", task_id, error)

    # -- called by its jobs --------------------------------------------------------------------------------------------

    async def slot(self) -> bool:
        """Wait for a free slot; false if the worker stops. A job taken without one would keep others from it."""
        while self._worker is not None and not self._worker.stopped:
            if min(self._engine.free_slots, self._slots) > self._in_flight:
                return True
            self._changed.clear()
            await self._changed.wait()
        return False

    def taken(self) -> None:
        self._in_flight += 1

    def ended(self) -> None:
        self._in_flight = max(self._in_flight - 1, 0)
        self._changed.set()


class _Worker(Worker):
    """Wakes the fetch that waits for a slot when it stops."""

    changed: asyncio.Event
    stopped = False

    def stop(self) -> None:
        self.stopped = True
        super().stop()  # type: ignore[no-untyped-call]
        self.changed.set()


class _Jobs(JobManager):
    """Fetches a job only for a free slot, and drops those that aren't ours."""

    def __init__(self, connector: PsycopgConnector, dispatcher: Dispatcher) -> None:
        super().__init__(connector)
        self._dispatcher = dispatcher
        #: Jobs that the claims of their tasks have ended.
        self.claimed: set[int | None] = set()

    async def register_worker(self) -> int:
        worker_id = await super().register_worker()
        self._dispatcher.beat = worker_id
        self._dispatcher.registered.set()
        return worker_id

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        while await self._dispatcher.slot():
            row = await self.connector.execute_query_one_async(_FETCH, queues=queues, worker_id=worker_id)
            if row["id"] is None:
                return None
            job = Job.from_row(row)
            if _names_task(job):
                self._dispatcher.taken()
                return job
            log.warning("Dropped job %s of the queue %s, which names no task.", job.id, job.queue)
            await super().finish_job(job, Status.FAILED, delete_job=True)
        return None

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        try:
            if job.id in self.claimed:
                self.claimed.discard(job.id)
            else:
                await super().finish_job(job, status, delete_job)
        except ConnectorException as error:
            # It stays behind under this worker's row; the leader drops the jobs of a row that is gone.
            log.debug("Job %s could not be ended: %s", job.id, error)
            self._dispatcher.register_again()
        finally:
            self._dispatcher.ended()


def _names_task(job: Job) -> bool:
    given: Any = job.task_kwargs
    return (
        job.task_name == RUN_TASK
        and isinstance(given, dict)
        and given.keys() == {"task_id"}
        and isinstance(given["task_id"], str)
        and "\0" not in given["task_id"]
    )


def _is_no_outage(record: logging.LogRecord) -> bool:
    """The journal says that the database is away; each of procrastinate's tasks would add a traceback."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, ConnectorException | psycopg.Error | OSError)


async def _commit_each(connection: psycopg.AsyncConnection[Any]) -> None:
    await connection.set_autocommit(True)
