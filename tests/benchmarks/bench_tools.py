"""What the executor and its tools cost, each beside the bare operation underneath, in one run."""

import asyncio
import gc
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from sidecar.cache import Caches
from tests.benchmarks.result import Result
from tools.code.files import list_files
from tools.executor.context import BatchContext, ToolCall
from tools.executor.executor import Executor
from tools.executor.registry import default_registry
from tools.host import FileChange, FileInfo
from tools.ledger import ListLedger
from tools.local.backend import LocalBackend
from tools.policy.policy import Policy
from tools.ripgrep import ripgrep
from tools.spec import Call

Act = Callable[[int], Awaitable[object]]

#: What a model takes for one turn at the very least; a call more is a turn more.
_MODEL_TURN = 0.3


class _Place:
    def __init__(self, root: Path, *, caches: bool = False) -> None:
        self.workspace = root / "workspace"
        self.workspace.mkdir()
        registry = default_registry()
        self.backend = LocalBackend(registry, root / "data")
        self.executor = Executor(registry, [self.backend], Policy(), Caches() if caches else None)
        self.host = self.backend.host(str(self.workspace))
        self.ledger = ListLedger()
        self._number = 0

    async def call(self, tool: str, **args: object) -> object:
        self._number += 1
        context = BatchContext(str(self.workspace), "auto", self.ledger)
        (outcome,) = await self.executor.batch([ToolCall(f"c{self._number}", tool, args)], context)  # type: ignore[arg-type]
        assert outcome.status == "success", outcome.content
        return outcome


async def _medians(count: int, *acts: Act) -> list[float]:
    """Taken in turn, so that whatever else the machine does falls on all of them alike."""
    times: list[list[float]] = [[] for _ in acts]
    for number in range(count):
        for act, taken in zip(acts, times, strict=True):
            began = time.perf_counter()
            await act(number)
            taken.append(time.perf_counter() - began)
    return [statistics.median(taken) for taken in times]


async def run() -> list[Result]:
    results: list[Result] = []
    for measure in (_overhead, _commands, _parallel, _many_files, _search, _tree, _skipping, _memory):
        with tempfile.TemporaryDirectory() as root:
            place = _Place(Path(root), caches=measure is _tree)
            try:
                results += await measure(place)
            finally:
                await place.executor.close()
    return results


async def _overhead(place: _Place) -> list[Result]:
    (place.workspace / "a.txt").write_text("line\n" * 100)
    tool = place.executor._registry.get("read_file")
    args = tool.spec.arguments.model_validate({"path": "a.txt"})

    async def bare_read(number: int) -> None:
        await tool.run(args, place.host, Call("x", place.host.workspace, 5), lambda *_: None)  # type: ignore[union-attr]

    async def read(number: int) -> None:
        await place.call("read_file", path="a.txt")

    last = b""

    async def bare_write(number: int) -> None:
        nonlocal last
        content = f"{number}\n".encode()
        await place.host.apply(FileChange("bare.txt", last or None, content))
        last = content

    async def write(number: int) -> None:
        await place.call("write_file", path="own.txt", content=f"{number}\n")

    bare, own = await _medians(500, bare_read, read)
    bare_w, own_w = await _medians(200, bare_write, write)
    return [
        _difference("executor overhead of a read", own, bare, 0.3),
        _difference("executor overhead of a write", own_w, bare_w, 1.0),
    ]


async def _commands(place: _Place) -> list[Result]:
    async def bare(number: int) -> None:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            "true", stdout=pipe, stderr=pipe, stdin=asyncio.subprocess.DEVNULL
        )
        await process.communicate()

    async def own(number: int) -> None:
        await place.call("run_command", command=["true"])

    plain, ours = await _medians(100, bare, own)
    return [_ratio("run_command true", ours, plain, "a bare subprocess", 2.0)]


async def _parallel(place: _Place) -> list[Result]:
    """On a disk that takes its time, as one over a network does: what is in memory anyway is read one by one."""
    for number in range(10):
        (place.workspace / f"{number}.txt").write_text("line\n" * 100)
    read = place.host.whole

    async def slow(path: str, limit: int) -> tuple[FileInfo, bytes | None]:
        await asyncio.sleep(0.005)
        return await read(path, limit)

    async def one(number: int) -> None:
        place.host.whole = slow  # type: ignore[method-assign]
        await place.call("read_file", path="0.txt")

    async def ten(number: int) -> None:
        await place.executor.batch(_reads(f"s{number}"), BatchContext(str(place.workspace), "auto", place.ledger))

    async def ten_in_memory(number: int) -> None:
        place.host.whole = read  # type: ignore[method-assign]
        await place.executor.batch(_reads(f"m{number}"), BatchContext(str(place.workspace), "auto", place.ledger))

    single, together, in_memory = await _medians(50, one, ten, ten_in_memory)
    return [
        _ratio("ten parallel reads of 5 ms each", together, single, "the slowest one", 3.0),
        Result("ten parallel reads from memory", in_memory * 1000, "ms", most=5),
    ]


def _reads(prefix: str) -> list[ToolCall]:
    return [ToolCall(f"{prefix}.{number}", "read_file", {"path": f"{number}.txt"}) for number in range(10)]


async def _many_files(place: _Place) -> list[Result]:
    names = [f"{number}.txt" for number in range(100)]
    for name in names:
        (place.workspace / name).write_text("line\n" * 50)

    async def together(number: int) -> None:
        await place.call("read_files", paths=names)

    async def single(number: int) -> None:
        for name in names:
            await place.call("read_file", path=name)

    at_once, one_by_one = await _medians(10, together, single)
    # Each single call is a turn of the model; its own time is counted as the least that a turn takes.
    factor = (one_by_one + 100 * _MODEL_TURN) / (at_once + _MODEL_TURN)
    return [
        Result(
            "read_files of 100 files",
            at_once * 1000,
            "ms",
            ratio=factor,
            baseline="100 calls of a model",
            least_ratio=5,
        )
    ]


async def _search(place: _Place) -> list[Result]:
    for folder in range(50):
        (place.workspace / f"d{folder}").mkdir()
        for number in range(100):
            text = "".join(f"def function_{number}_{line}(): return {line}\n" for line in range(20))
            (place.workspace / f"d{folder}/f{number}.py").write_text(text)

    async def bare(number: int) -> None:
        argv = [ripgrep(), "--no-config", "-n", "function_77_7", "."]
        process = await asyncio.create_subprocess_exec(*argv, cwd=place.workspace, stdout=asyncio.subprocess.PIPE)
        await process.communicate()

    async def own(number: int) -> None:
        await place.call("search_code", query="function_77_7")

    plain, ours = await _medians(15, bare, own)
    return [_ratio("search_code in 5,000 files", ours, plain, "rg itself", 1.3)]


async def _tree(place: _Place) -> list[Result]:
    for folder in range(500):
        (place.workspace / f"d{folder}").mkdir()
        for number in range(100):
            (place.workspace / f"d{folder}/f{number}").touch()
    subprocess.run(["git", "init", "-q"], cwd=place.workspace, check=True)
    subprocess.run(["git", "add", "."], cwd=place.workspace, check=True)

    async def bare(number: int) -> None:
        process = await asyncio.create_subprocess_exec(
            "git", "ls-files", cwd=place.workspace, stdout=asyncio.subprocess.PIPE
        )
        await process.communicate()

    async def first(number: int) -> None:
        place.executor._caches.clear()  # type: ignore[union-attr]
        await place.call("read_directory_tree")

    async def cached(number: int) -> None:
        await place.call("read_directory_tree")

    listed, own, again = await _medians(10, bare, first, cached)
    return [
        _ratio("tree of 50,000 files, first", own, listed, "git ls-files", 1.5),
        Result("tree of 50,000 files, from cache", again * 1000, "ms", most=1),
    ]


async def _skipping(place: _Place) -> list[Result]:
    """500 sources beside 5,000 files that nobody ignores: installed, built and cached ones."""
    skipped = ("node_modules/a", ".venv/lib/site-packages/b", "dist/assets", "build/lib/c", "__pycache__")
    for folder, count in (("src", 500), *((folder, 1_000) for folder in skipped)):
        (place.workspace / folder).mkdir(parents=True)
        for number in range(count):
            (place.workspace / folder / f"f{number}.py").write_text(f"def f{number}():\n    return {number}\n")

    async def all_of_it(number: int) -> None:
        files = await list_files(place.host, Call(f"a{number}", place.host.workspace, 60))
        assert len(files) == 500

    async def source(number: int) -> None:
        assert len(await list_files(place.host, Call(f"s{number}", place.host.workspace, 60), "src")) == 500

    ours, plain = await _medians(20, all_of_it, source)
    name, baseline = "listing 500 sources beside 5,000 skipped files", "listing the sources alone"
    return [Result(name, ours * 1000, "ms", ratio=ours / plain, baseline=baseline, most_ratio=1.3)]


async def _memory(place: _Place) -> list[Result]:
    (place.workspace / "a.txt").write_text("line\n" * 100)

    async def calls(count: int) -> None:
        for number in range(count):
            context = BatchContext(str(place.workspace), "auto", ListLedger())
            await place.executor.batch([ToolCall(f"m{number}", "read_file", {"path": "a.txt"})], context)

    await calls(1_000)
    gc.collect()
    before = _resident()
    await calls(10_000)
    gc.collect()
    grown = _resident() - before
    return [Result("memory over 10,000 calls", grown, "MiB", most=2)]


def _resident() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / (1 << 20)


def _difference(name: str, own: float, bare: float, limit: float) -> Result:
    more = (own - bare) * 1000
    return Result(name, more, "ms", ratio=own / bare, baseline=f"{bare * 1000:.3f} ms bare", most=limit)


def _ratio(name: str, own: float, bare: float, baseline: str, limit: float) -> Result:
    return Result(name, own * 1000, "ms", ratio=own / bare, baseline=baseline, most_ratio=limit)
