"""What it costs that everything can be undone, each beside the bare operation underneath, in one run."""

import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from sidecar.engine.approvals import Slots
from sidecar.engine.review import Review
from sidecar.engine.run import TaskRun
from sidecar.journal.port import Claim, NewTask
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest
from tests.benchmarks.result import Result
from tools.executor.context import BatchContext, ToolCall
from tools.executor.executor import Executor
from tools.executor.registry import default_registry
from tools.host import FileChange
from tools.ledger import NewBlob, Outcome
from tools.local.backend import LocalBackend
from tools.local.host import LocalHost
from tools.policy.policy import Policy

Act = Callable[[int], Awaitable[object]]


class _Place:
    def __init__(self, root: Path) -> None:
        self.workspace = root / "workspace"
        self.workspace.mkdir()
        self.root = root
        registry = default_registry()
        self.backend = LocalBackend(registry, root / "data")
        self.executor = Executor(registry, [self.backend], Policy())
        host = self.backend.host(str(self.workspace))
        assert isinstance(host, LocalHost)
        self.host = host
        self._number = 0

    async def open(self) -> None:
        self.journal = await SqliteJournal.open(self.root / "journal.db")
        self.run = TaskRun(await self.claim("t_1"), self.journal, Slots(1, lambda: None))

    async def close(self) -> None:
        await self.executor.close()
        await self.journal.close()

    async def call(self, run: TaskRun, tool: str, **args: object) -> Outcome:
        self._number += 1
        context = BatchContext(str(self.workspace), "auto", run.ledger)
        (outcome,) = await self.executor.batch([ToolCall(f"c{self._number}", tool, args)], context)  # type: ignore[arg-type]
        assert outcome.status == "success", outcome.content
        return outcome

    async def claim(self, task_id: str) -> Claim:
        request = StoredRequest(
            task="x", workspace=str(self.workspace), conversation_id="c", context=Context(), options=Options()
        )
        await self.journal.create(NewTask(task_id, request, [StatusEvent(status=Status.QUEUED)]))
        claim = await self.journal.claim("bench", 0.0, 60.0)
        assert claim is not None
        return claim


async def _taken(count: int, *acts: Act) -> list[list[float]]:
    """Taken in turn, so that whatever else the machine does falls on all of them alike."""
    times: list[list[float]] = [[] for _ in acts]
    for number in range(count):
        for act, taken in zip(acts, times, strict=True):
            began = time.perf_counter()
            await act(number)
            taken.append(time.perf_counter() - began)
    return times


async def _medians(count: int, *acts: Act) -> list[float]:
    return [statistics.median(taken) for taken in await _taken(count, *acts)]


async def _minima(count: int, *acts: Act) -> list[float]:
    """For what is a good part of a second's work: a machine that is busy with other things slows all but a few."""
    return [min(taken) for taken in await _taken(count, *acts)]


async def run() -> list[Result]:
    results: list[Result] = []
    for measure in (_recording, _rewind, _rewind_of_many, _attribution, _scan, _scan_in_git, _blobs):
        with tempfile.TemporaryDirectory() as root:
            place = _Place(Path(root))
            await place.open()
            try:
                results += await measure(place)
            finally:
                await place.close()
    return results


async def _recording(place: _Place) -> list[Result]:
    """An edit whose before and after are kept, beside the same edit of a task that keeps none."""
    text = "".join(f"line {number} of a file of ordinary length\n" for number in range(500))
    for name in ("bare.py", "own.py"):
        (place.workspace / name).write_text(text)
    forgetful = TaskRun(await place.claim("t_2"), place.journal, Slots(1, lambda: None))

    async def nothing(blobs: Sequence[NewBlob]) -> None:
        return None

    forgetful.log.put_blobs = nothing  # type: ignore[method-assign]

    async def bare(number: int) -> None:
        await place.call(forgetful, "edit_file", path="bare.py", oldText=f"line {number} ", newText=f"edited {number} ")

    async def own(number: int) -> None:
        await place.call(place.run, "edit_file", path="own.py", oldText=f"line {number} ", newText=f"edited {number} ")

    plain, ours = await _medians(300, bare, own)
    more = (ours - plain) * 1000
    baseline = f"{plain * 1000:.3f} ms without contents"
    return [Result("recording before and after of an edit", more, "ms", ratio=ours / plain, baseline=baseline, most=1)]


async def _rewind(place: _Place) -> list[Result]:
    names = [f"{number}.txt" for number in range(100)]
    for name in names:
        (place.workspace / name).write_text("before\n" * 100)
    start = (await place.journal.task("t_1")).last_seq
    for name in names:
        await place.call(place.run, "write_file", path=name, content="after\n" * 100)
    await place.journal.append("t_1", [StatusEvent(status=Status.CANCELLED)])
    end = (await place.journal.task("t_1")).last_seq
    review = Review(place.journal, place.backend.host, lambda task, record: None)
    contents = [b"before\n" * 100, b"after\n" * 100]

    async def rewind(number: int) -> None:
        seq = start if number % 2 == 0 else end
        answer = await review.rewind("t_1", seq)
        assert [file.change for file in answer.files] == ["modified"] * 100
        assert (place.workspace / names[7]).read_bytes() == contents[number % 2]

    async def bare(number: int) -> None:
        for name in names:
            await place.host.apply(
                FileChange(f"bare-{name}", contents[number % 2] if number else None, contents[1 - number % 2])
            )

    ours, plain = await _minima(6, rewind, bare)
    return [Result("rewind of 100 files", ours * 1000, "ms", ratio=ours / plain, baseline="writing them", most=500)]


async def _rewind_of_many(place: _Place) -> list[Result]:
    """5,000 files that one command changed."""
    count = 5_000
    for number in range(count):
        (place.workspace / f"{number}.txt").write_text("before\n" * 20)
    start = (await place.journal.task("t_1")).last_seq
    await place.call(place.run, "run_command", command="for f in *.txt; do echo after > $f; done", timeoutMs=110_000)
    await place.journal.append("t_1", [StatusEvent(status=Status.CANCELLED)])
    review = Review(place.journal, place.backend.host, lambda task, record: None)
    began = time.perf_counter()
    answer = await review.rewind("t_1", start)
    ours = time.perf_counter() - began
    assert len(answer.files) == count and not answer.conflicts and not answer.not_restored
    began = time.perf_counter()
    for number in range(200):
        await place.host.apply(FileChange(f"{number}.txt", b"before\n" * 20, b"bare\n"))
    plain = (time.perf_counter() - began) * count / 200
    return [Result("rewind of 5,000 files", ours, "s", ratio=ours / plain, baseline="writing them one by one", most=60)]


async def _attribution(place: _Place) -> list[Result]:
    """A command whose changes are attributed to its processes, beside one with a scan before and after it."""
    for number in range(300):
        (place.workspace / f"{number}.py").write_text("x = 1\n" * 50)

    async def never() -> bool:
        return False

    always = place.host.attributes

    def measured(command: str, *, attributed: bool) -> Act:
        async def act(number: int) -> None:
            place.host.attributes = always if attributed else never
            await place.call(place.run, "run_command", command=command)

        return act

    results: list[Result] = []
    twenty = "for n in $(seq 20); do echo $$ > new$n; done"
    for name, command in (("nothing", "true"), ("one file", "echo $$ > new"), ("20 files", twenty)):
        traced, scanned = await _minima(40, measured(command, attributed=True), measured(command, attributed=False))
        baseline = f"a scan of 300 files before and after, {scanned * 1000:.1f} ms"
        more, ratio = (traced - scanned) * 1000, traced / scanned
        name = f"attributing a command that changes {name}"
        results.append(Result(name, more, "ms", ratio=ratio, baseline=baseline, most=10))
    place.host.attributes = always
    return results


def _ten_thousand(workspace: Path) -> None:
    for folder in range(200):
        (workspace / f"d{folder}").mkdir()
        for number in range(50):
            (workspace / f"d{folder}/f{number}.py").write_text(f"x = {number}\n" * 20)
    for path in workspace.rglob("*.py"):
        os.utime(path, (1_600_000_000, 1_600_000_000))


async def _scan(place: _Place) -> list[Result]:
    _ten_thousand(place.workspace)
    return await _scanned(place, "scan around a command, 10,000 files")


async def _scan_in_git(place: _Place) -> list[Result]:
    _ten_thousand(place.workspace)
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=place.workspace, check=True)
    return await _scanned(place, "the same in a Git work tree")


async def _scanned(place: _Place, name: str) -> list[Result]:
    began = time.perf_counter()
    await place.host.snapshot()
    first = time.perf_counter() - began
    await asyncio.sleep(0.05)
    await place.host.snapshot()

    async def ours(number: int) -> None:
        changed = place.workspace / f"d{number}/f1.py"
        before = await place.host.snapshot()
        if number % 2:
            changed.write_text(f"{number}\n")
        found = await place.host.changes(before)
        assert len(found) == number % 2

    async def bare(number: int) -> None:
        await asyncio.to_thread(_walked, str(place.workspace))

    scanned, walked = await _minima(41, ours, bare)
    ratio = scanned / walked
    return [
        Result(name, scanned * 1000, "ms", ratio=ratio, baseline="two bare walks with their stats", most=60),
        Result(f"{name}, the very first look", first * 1000, "ms", most=2000),
    ]


def _walked(root: str) -> None:
    """What any look at all files, before and after, costs at the least."""
    for _ in range(2):
        folders = [root]
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        entry.stat(follow_symlinks=False)


async def _blobs(place: _Place) -> list[Result]:
    """A thousand edits of a few lines, here and there, of a file of 100 KB."""
    lines = [f"    value_{number} = compute(something, {number * 7919 % 10_007})\n" for number in range(2_000)]
    whole = "".join(lines).encode()
    name = await place.journal.put_blob("t_1", whole)
    for number in range(1_000):
        for place_ in (number * 17, number * 17 + 1, number * 911):
            lines[place_ % len(lines)] = f"    edited_{number} = other({place_ * 31 % 997}, {number})\n"
        name = await place.journal.put_blob("t_1", "".join(lines).encode(), name)
    assert await place.journal.blob(name) == "".join(lines).encode()
    size = place.journal.state().size_bytes / (1 << 20)
    bare = 1_000 * len(whole) / (1 << 20)
    baseline = f"{bare:.0f} MiB as they are"
    return [Result("1,000 edits of a 100 KB file, journal", size, "MiB", ratio=size / bare, baseline=baseline, most=10)]
