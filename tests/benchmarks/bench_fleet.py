"""A fleet on one PostgreSQL: checkpointed steps beside DBOS and bare jobs of procrastinate, growth, dispatch, the API.

DBOS is used if it is installed, also outside the environment: `pip install --target DIR dbos`, `BRAIN_DBOS=DIR`.
"""

import asyncio
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from sidecar.fleet.dispatch import Dispatcher
from sidecar.journal.port import DEFAULT_POOL, NewTask, Record
from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.wire.events import StatusEvent, StepEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest
from tests.benchmarks.result import Result
from tests.e2e.support import Json, RunningSidecar
from tests.support.fleet import running_fleet
from tests.support.servers import Postgres
from tests.waiting import wait_until

STEPS = 50
TASKS = 8
QUEUED = 10_000
PROCESSES = (1, 2, 4, 8)
#: Tasks that run while the API answers, and how many requests are measured.
RUNNING = 50
REQUESTS = 100
#: More tasks like the first one, at once.
_COPIES = """
INSERT INTO tasks (id, created_at, conversation, priority, pool, request, status, state, workspace)
SELECT id || number, created_at, conversation, priority, pool, request, status, state, workspace
FROM tasks, generate_series(%s::integer, %s) AS number WHERE id = 't_0' RETURNING position
"""
#: Run by each process of a growing fleet.
_WRITER = (
    "import asyncio, sys; from tests.benchmarks.bench_fleet import write; asyncio.run(write(sys.argv[1], sys.argv[2]))"
)


async def run() -> list[Result]:
    server = Postgres(durable=True)
    try:
        alone = await _steps(server.new_database(), 1)
        ours = await _steps(server.new_database(), TASKS)
        jobs = await asyncio.to_thread(_in_process, "_procrastinate", server.new_database())
        dbos = await asyncio.to_thread(_in_process, "_dbos", server.new_database())
        growth = [await asyncio.to_thread(_processes, server.new_database(), count) for count in PROCESSES]
        claim = await _claims(server.new_database())
        dispatched = await _dispatched(server.new_database())
        idle, busy = await asyncio.to_thread(_api, server.new_database())
    finally:
        server.close()
    return [
        Result("checkpointed steps of one task", alone, "/s"),
        Result(f"checkpointed steps of {TASKS} tasks", ours, "/s", ours / jobs, "bare jobs of procrastinate"),
        *([Result("  the same", ours, "/s", ours / dbos, "steps of DBOS")] if dbos else []),
        *(
            Result(f"steps of {count} processes with {TASKS} tasks each", rate, "/s", rate / growth[0], "one process")
            for count, rate in zip(PROCESSES, growth, strict=True)
        ),
        Result(f"a task dispatched and ended among {QUEUED:,} queued", claim, "ms"),
        Result(
            "tasks created, dispatched, claimed and ended",
            dispatched,
            "/s",
            dispatched / jobs,
            "bare jobs of procrastinate",
        ),
        Result(f"GET a task while {RUNNING} run, median", busy[0], "ms", busy[0] / idle[0], "an idle fleet"),
        Result(f"GET a task while {RUNNING} run, 99 %", busy[1], "ms", busy[1] / idle[1], "an idle fleet"),
    ]


def _new(name: str) -> NewTask:
    request = StoredRequest(task="work", workspace="/w", conversation_id=name, context=Context(), options=Options())
    return NewTask(name, request, [StatusEvent(status=Status.QUEUED)])


async def _work(journal: PostgresJournal, steps: int) -> None:
    """A task whose steps are each durable before the next begins."""
    name = f"t_{secrets.token_hex(8)}"
    await journal.create(_new(name))
    for number in range(steps):
        step = StepEvent(step=number, total=steps, message="step", agent="coder", state="completed")
        await journal.append(name, [step], [Record("step", str(number), "x" * 300)])


async def _steps(url: str, tasks: int) -> float:
    journal = await PostgresJournal.open(url)
    began = time.perf_counter()
    await asyncio.gather(*(_work(journal, STEPS) for _ in range(tasks)))
    took = time.perf_counter() - began
    await journal.close()
    return tasks * STEPS / took


class _Runner:
    """Ends each task that it is told to run, until it has ended enough."""

    def __init__(self, journal: PostgresJournal, enough: int) -> None:
        self._journal = journal
        self._left = enough
        self.free_slots = TASKS
        self.done = asyncio.Event()

    def call_when_free(self, callback: Callable[[], None]) -> None:
        """Its slots are always free."""

    async def run_named(self, task_id: str) -> bool:
        claim = await self._journal.claim_named(task_id, "me", now=0, lease=60)
        assert claim is not None
        await self._journal.append(task_id, [StatusEvent(status=Status.COMPLETED)], fence=claim.fence)
        self._left -= 1
        if self._left <= 0:
            self.free_slots = 0
            self.done.set()
        return True


async def _worked_off(journal: PostgresJournal, tasks: int) -> float:
    """Seconds in which a worker gets, claims and ends so many tasks, while or after others create them."""
    runner = _Runner(journal, tasks)
    dispatcher = Dispatcher(journal.conninfo, runner, DEFAULT_POOL, TASKS)
    began = time.perf_counter()
    await dispatcher.start()
    async with asyncio.timeout(600):
        await runner.done.wait()
    took = time.perf_counter() - began
    await dispatcher.close()
    return took


async def _claims(url: str) -> float:
    journal = await PostgresJournal.open(url)
    await journal.create(_new("t_0"))
    # No statement may take 20 seconds, even on a busy machine.
    for first in range(1, QUEUED, 500):
        await journal.query(_COPIES, (first, min(first + 499, QUEUED - 1)))
    took = await _worked_off(journal, 100)
    await journal.close()
    return took * 10


async def _dispatched(url: str) -> float:
    """What a job queue would do for a task: enter it, hand it to one worker, and end it. As in a fleet, the node that
    takes it and the worker that runs it have a connection each.
    """
    journal, worker = await PostgresJournal.open(url), await PostgresJournal.open(url)

    async def create(number: int) -> None:
        for each in range(STEPS):
            await journal.create(_new(f"t_{number}_{each}"))

    began = time.perf_counter()
    await asyncio.gather(_worked_off(worker, TASKS * STEPS), *(create(number) for number in range(TASKS)))
    took = time.perf_counter() - began
    await worker.close()
    await journal.close()
    return TASKS * STEPS / took


def _api(url: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Median and 99 % of a request in milliseconds: idle, and while tasks run on two workers."""
    with TemporaryDirectory() as place, running_fleet(Path(place), url) as fleet:
        node = fleet.node()
        for _ in range(2):
            fleet.worker("--slots", str(RUNNING // 2))
        known = node.execute("what can you do?")
        node.wait_for_end(known)
        idle = _requests(node, known)
        call = {"tool": "run_command", "args": {"command": "sleep 120", "timeoutMs": 180_000}}
        models = node.script("sleep", [{"text": "now", "calls": [call]}, {"text": "done"}])
        asked: Json = {"models": models, "approvals": "auto", "agentType": "coder", "intent": "edit_code"}
        tasks = [node.execute("wait", **asked) for _ in range(RUNNING)]
        running = "/api/brain/tasks?status=running&limit=200"
        wait_until(lambda: len(node.get(running).json["tasks"]) == RUNNING, seconds=120, what="all tasks to run")
        busy = _requests(node, known)
        for each in tasks:
            node.post(f"/api/brain/tasks/{each}/cancel")
        return idle, busy


def _requests(node: RunningSidecar, task_id: str) -> tuple[float, float]:
    times = []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        node.task(task_id)
        times.append((time.perf_counter() - began) * 1_000)
    times.sort()
    return times[REQUESTS // 2], times[REQUESTS * 99 // 100]


async def write(url: str, go: str) -> None:
    journal = await PostgresJournal.open(url)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await asyncio.gather(*(_work(journal, STEPS) for _ in range(TASKS)))
    print("done", flush=True)
    await journal.close()


def _processes(url: str, count: int) -> float:
    command = [sys.executable, "-c", _WRITER, url, "go"]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)
    ]
    _all_say(running, "ready")
    began = time.perf_counter()
    for each in running:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    _all_say(running, "done")
    took = time.perf_counter() - began
    for each in running:
        each.communicate(timeout=600)
    return count * TASKS * STEPS / took


def _all_say(running: Sequence["subprocess.Popen[str]"], word: str) -> None:
    for each in running:
        assert each.stdout is not None and each.stdout.readline() == f"{word}\n"


def _in_process(function: str, url: str) -> float:
    """In a process of its own: both keep threads and settings for as long as it lives. 0 if it isn't there."""
    code = f"import tests.benchmarks.bench_fleet as bench; print(bench.{function}({url!r}))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    if ended.returncode:
        print(ended.stderr[-2_000:], file=sys.stderr)
        return 0.0
    return float(ended.stdout.split()[-1])


def _procrastinate(url: str) -> float:
    """Jobs that do nothing: deferred one by one, and worked off by as many at once as we have tasks."""
    import procrastinate

    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url))

    @app.task(queue="bench")
    async def job(number: int) -> int:
        return number

    async def work() -> float:
        async with app.open_async():
            await app.schema_manager.apply_schema_async()
            began = time.perf_counter()
            await asyncio.gather(*(_defer(job) for _ in range(TASKS)))
            await app.run_worker_async(queues=["bench"], concurrency=TASKS, wait=False, install_signal_handlers=False)
            return TASKS * STEPS / (time.perf_counter() - began)

    async def _defer(task: "procrastinate.tasks.Task[..., int, ...]") -> None:  # type: ignore[misc]
        for number in range(STEPS):
            await task.defer_async(number=number)

    return asyncio.run(work())


def _dbos(url: str) -> float:
    if place := os.environ.get("BRAIN_DBOS"):
        sys.path.append(place)
    if find_spec("dbos") is None:
        return 0.0
    from dbos import DBOS, DBOSConfig

    config: DBOSConfig = {"name": "bench", "system_database_url": url, "log_level": "ERROR", "run_admin_server": False}
    DBOS(config=config)

    @DBOS.step()
    async def step(number: int) -> str:
        return "x" * 300

    @DBOS.workflow()
    async def workflow() -> None:
        for number in range(STEPS):
            await step(number)

    DBOS.launch()

    async def work() -> float:
        began = time.perf_counter()
        await asyncio.gather(*(workflow() for _ in range(TASKS)))
        return TASKS * STEPS / (time.perf_counter() - began)

    rate = asyncio.run(work())
    DBOS.destroy()
    return rate
