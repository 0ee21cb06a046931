"""Routing, and what a turn of an agent costs beside the model and the tool."""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from sidecar.config.settings import Settings
from sidecar.engine.engine import Engine
from sidecar.engine.operations import Execute
from sidecar.journal.sqlite import SqliteJournal
from sidecar.models.catalog import Catalog
from sidecar.models.port import Delta, Reply, Request
from sidecar.models.scripted import Scripted, parse
from sidecar.offline import OFFLINE
from sidecar.wire.tasks import ExecuteRequest
from sidecar.work.router import route
from sidecar.work.workflow import Workflow
from tests.benchmarks.result import Result
from tests.sentences import all_sentences
from tools.executor.executor import Executor
from tools.executor.registry import default_registry
from tools.local.backend import LocalBackend
from tools.policy.policy import Policy

TURNS = 200
EDGE = 40


async def run() -> list[Result]:
    routing = _routing()
    with tempfile.TemporaryDirectory() as directory:
        first, turns = await _turns(Path(directory))
    median = statistics.median(turns)
    # The lower quartile: what others do on the machine at one end must not look like growth.
    start, end = (statistics.quantiles(edge, n=4)[0] for edge in (turns[5 : 5 + EDGE], turns[-EDGE:]))
    return [
        Result("route a sentence", routing, "µs", most=100),
        Result("warm execute to the model's first request", first, "ms", most=5),
        Result("a turn with one read, all recorded", median, "ms", most=3),
        Result(
            f"a turn at the end of {TURNS}",
            end,
            "ms",
            ratio=end / start,
            baseline="a turn at the start",
            most_ratio=1.5,
        ),
    ]


def _routing() -> float:
    """An unseen sentence, on the average; it is computing only, so the processor's time is what counts."""
    sentences = [sentence for _, sentence in all_sentences("unseen")]
    rounds = []
    for _ in range(7):
        began = time.process_time()
        for sentence in sentences:
            route(sentence)
        rounds.append((time.process_time() - began) / len(sentences))
    return statistics.median(rounds) * 1e6


class Timed(Scripted):
    """Notes when it is asked and when its last word is out: the time between two turns is ours and the tool's."""

    def __init__(self, name: str, turns: int) -> None:
        looks = [
            {"text": f"turn {turn}", "calls": [{"tool": "read_file", "args": {"path": f"file{turn % 50}.txt"}}]}
            for turn in range(turns)
        ]
        super().__init__(name, parse([*looks, {"text": "done"}]))
        self.asked: list[float] = []
        self.answered: list[float] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        self.asked.append(time.perf_counter())
        async for part in super().stream(request):
            if isinstance(part, Reply):
                self.answered.append(time.perf_counter())
            yield part


class OneModel(Catalog):
    def __init__(self, model: Timed) -> None:
        super().__init__(Settings(), Path(), OFFLINE)
        self.model = model

    def model_for(self, *_: object) -> Timed:  # type: ignore[override]
        return self.model


async def _turns(directory: Path) -> tuple[float, list[float]]:
    workspace, data_dir = directory / "workspace", directory / "data"
    for place in (workspace, data_dir):
        place.mkdir()
    for number in range(50):
        (workspace / f"file{number}.txt").write_text(f"{number}\n" * 100)
    (workspace / "AGENTS.md").write_text("Use tabs.\n" * 20)
    journal = await SqliteJournal.open(data_dir / "journal.db")
    registry = default_registry()
    backend = LocalBackend(registry, data_dir)
    executor = Executor(registry, [backend], Policy())
    catalog = OneModel(Timed("warm", 3))
    workflow = Workflow(journal, catalog, registry, executor)
    engine = Engine(journal, workflow, backend.host, workspace, slots=1, max_queued=10)
    await engine.start()
    try:
        firsts = []
        for turns in (*[3] * 12, TURNS):
            catalog.model = Timed("timed", turns)
            options = {"agentType": "coder", "maxIterations": turns + 1}
            request = ExecuteRequest.model_validate_json(json.dumps({"task": "fix it", "options": options}))
            began = time.perf_counter()
            task_id = await engine.submit(Execute(request))
            async with asyncio.timeout(60):
                async for _ in engine.events(task_id):
                    pass
            assert len(catalog.model.asked) == turns + 1, (await journal.task(task_id)).error
            firsts.append(catalog.model.asked[0] - began)
    finally:
        await engine.stop()
        await executor.close()
        await journal.close()
    between = zip(catalog.model.answered[:-1], catalog.model.asked[1:], strict=True)
    return statistics.median(firsts[1:]) * 1000, [(asked - answered) * 1000 for answered, asked in between]
