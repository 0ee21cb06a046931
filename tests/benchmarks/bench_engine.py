"""Many small tasks through the whole engine, with everything recorded."""

import asyncio
import tempfile
import time
from pathlib import Path

from sidecar.engine.run import TaskRun
from sidecar.engine.state import UserMessage
from sidecar.engine.steps import StepKey
from sidecar.engine.worker import Worker
from sidecar.journal.port import NewTask
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest, TaskResult
from sidecar.work.pipeline import Step, run_pipeline
from sidecar.work.results import Results
from tests.benchmarks.bench_journal import _raw_commits
from tests.benchmarks.result import Result

TASKS = 200
STEPS = 10


async def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as directory:
        commit = _raw_commits(Path(directory) / "raw.db", "NORMAL") / 1000
        taken = await _many_tasks(Path(directory) / "journal.db")
    return [
        Result(
            f"{TASKS} tasks of {STEPS} steps",
            taken,
            "s",
            ratio=taken / (TASKS * STEPS * 2 * commit),
            baseline="two raw commits a step",
            most=0.5,
        )
    ]


async def _nothing(results: Results) -> str:
    return '"ok"'


class TenSteps:
    """Work that costs nothing itself."""

    async def carry_out(self, run: TaskRun) -> TaskResult:
        steps = [Step(StepKey(1, "coder", place=number + 1), "coder", "work", _nothing) for number in range(STEPS)]
        await run_pipeline(steps, run)
        return TaskResult(summary="done", files_modified=[], verification=None, usage=run.budget.usage)

    async def abandon(self, run: TaskRun) -> None:
        pass

    async def tidy(self, run: TaskRun) -> None:
        pass

    def missed(self, run: TaskRun) -> list[UserMessage]:
        return []

    async def suggest_command(self, asked: str, workspace: str) -> str | None:
        return None


async def _many_tasks(path: Path) -> float:
    journal = await SqliteJournal.open(path)
    done = asyncio.Event()

    worker = Worker(journal, TenSteps(), "bench", slots=8)
    worker.on_rest = done.set
    request = StoredRequest(task="x", workspace="/", conversation_id="c", context=Context(), options=Options())
    queued = [StatusEvent(status=Status.QUEUED)]
    worker.start()
    began = time.perf_counter()
    await asyncio.gather(*[journal.create(NewTask(f"t_{number}", request, queued)) for number in range(TASKS)])
    worker.wake()
    while (await journal.counts()).get(Status.COMPLETED, 0) < TASKS:
        done.clear()
        await done.wait()
    taken = time.perf_counter() - began
    await worker.stop()
    await journal.close()
    return taken
