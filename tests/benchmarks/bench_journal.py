"""What a checkpoint costs, beside the commits that it is made of."""

import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from sidecar.journal.port import NewTask, Record, TaskFilter
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import ChangedFile, DiffEvent, MessageEvent, StatusEvent, StepEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest
from tests.benchmarks.result import Result

STEPS = 2_000
TASKS = 5_000
BODY = "x" * 300


async def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as directory:
        raw = _raw_commits(Path(directory) / "raw.db", "NORMAL")
        synced = _raw_commits(Path(directory) / "synced.db", "FULL", 300)
        awaited = await _awaited_commits(Path(directory) / "awaited.db")
        step = await _steps(Path(directory) / "journal.db")
        replay = await _replay(Path(directory) / "replay.db")
        search, listing = await _search(Path(directory) / "search.db")
    return [
        Result(
            "a checkpointed step (start, outcome)",
            step,
            "ms",
            ratio=step / (2 * awaited),
            baseline="two commits awaited from a thread",
            most=0.3,
            most_ratio=3,
        ),
        Result(
            "  the same, beside commits with SQLite's defaults",
            step,
            "ms",
            ratio=step / (2 * synced),
            baseline="two raw commits, synced",
            most_ratio=3,
        ),
        Result(
            "  the same, beside bare unsynced commits in a loop",
            step,
            "ms",
            ratio=step / (2 * raw),
            baseline="two raw commits, no thread",
        ),
        Result("replay of 10,000 events from the journal", replay, "ms", most=500),
        Result(
            f"slowest search over the words and files of {TASKS:,} tasks",
            search,
            "ms",
            ratio=search / listing,
            baseline="the same page without a search",
            most=100,
        ),
    ]


def _raw_commits(path: Path, synchronous: str, count: int = STEPS) -> float:
    connection = _connection(path, synchronous)
    times = []
    for number in range(count):
        began = time.perf_counter()
        _commit(connection, number)
        times.append(time.perf_counter() - began)
    connection.close()
    return statistics.median(times) * 1000


async def _awaited_commits(path: Path) -> float:
    """What anybody pays who must not block an event loop: the same commit, on a thread, waited for."""
    connection = _connection(path, "NORMAL")

    async def commit(number: int) -> None:
        await asyncio.to_thread(_commit, connection, number)

    value = await _median(commit)
    connection.close()
    return value


def _connection(path: Path, synchronous: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("CREATE TABLE events (task INT, seq INT, body TEXT, PRIMARY KEY (task, seq)) WITHOUT ROWID")
    return connection


def _commit(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("BEGIN")
    connection.execute("INSERT INTO events VALUES (1, ?, ?)", (number, BODY))
    connection.execute("COMMIT")


async def _steps(path: Path) -> float:
    journal = await _journal(path)

    async def step(number: int) -> None:
        journal.append("t_1", [StepEvent(step=1, total=1, message=BODY, agent="coder", state="started")])
        outcome = Record("step", str(number), BODY)
        done = StepEvent(step=1, total=1, message=BODY, agent="coder", state="completed")
        await journal.append("t_1", [done], [outcome])

    value = await _median(step)
    await journal.close()
    return value


async def _replay(path: Path) -> float:
    journal = await _journal(path)
    step = StepEvent(step=1, total=1, message=BODY, agent="coder", state="completed")
    await journal.append("t_1", [step] * 10_000)
    await journal.append("t_1", [StatusEvent(status=Status.COMPLETED)])
    began = time.perf_counter()
    count = 0
    async for batch in journal.tail("t_1"):
        count += len(batch)
    taken = (time.perf_counter() - began) * 1000
    assert count == 10_002
    await journal.close()
    return taken


async def _search(path: Path) -> tuple[float, float]:
    """The slowest of several searches, and a page of the list."""
    journal = await SqliteJournal.open(path)
    chosen = random.Random(1)
    vocabulary = [f"{chosen.choice('abcdefghijklmnop')}word{number}" for number in range(5_000)]
    for number in range(TASKS):
        texts = [" ".join(chosen.choices(vocabulary, k=60)) for _ in range(6)]
        said = [MessageEvent(message_id="m", role="user", agent="", text=f"the {text}") for text in texts]
        changed = ChangedFile(path=f"src/module{number % 50}/file{number}.py", change="modified", added=1, removed=1)
        request = StoredRequest(
            task=texts[0], workspace="/w", conversation_id="c", context=Context(), options=Options()
        )
        await journal.create(
            NewTask(f"t_{number}", request, [StatusEvent(status=Status.QUEUED), *said, DiffEvent(files=[changed])])
        )
    await journal.tasks(TaskFilter(words="the"), limit=1)  # indexes them, as the sidecar does after its start
    times = []
    for query in (
        "the",
        "a",
        "t",
        "src/module7",
        "file4321.py",
        f"{vocabulary[1]} {vocabulary[2]}",
        "the src file",
        "zz",
    ):
        began = time.perf_counter()
        await journal.tasks(TaskFilter(words=query), limit=51)
        times.append(time.perf_counter() - began)
    began = time.perf_counter()
    assert len(await journal.tasks(limit=51)) == 51
    listing = time.perf_counter() - began
    await journal.close()
    return max(times) * 1000, listing * 1000


async def _journal(path: Path) -> SqliteJournal:
    journal = await SqliteJournal.open(path)
    request = StoredRequest(task="x", workspace="/", conversation_id="c", context=Context(), options=Options())
    await journal.create(NewTask("t_1", request, [StatusEvent(status=Status.QUEUED)]))
    return journal


async def _median(act: Callable[[int], Awaitable[None]]) -> float:
    times = []
    for number in range(STEPS):
        began = time.perf_counter()
        await act(number)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000
