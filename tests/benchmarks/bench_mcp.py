"""What MCP costs: a call through our executor, beside the SDK's bare call of the same server, and a start without any.

Ours is the whole call: validation, policy, review of the pinned tools, redaction, and its events and outcome in a
journal on disk; and the server runs in the sandbox. The processor time is that of this process, without the server's.
"""

import compileall
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from sidecar.engine.approvals import Slots
from sidecar.engine.run import TaskRun
from sidecar.journal.port import NewTask
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest
from tests.benchmarks.result import Result
from tests.e2e.support import PROJECT, clean_environ
from tests.faults.readers import resident
from tests.support.mcp.bench import SERVER, McpBench, scripted
from tools.executor.context import BatchContext, ToolCall

_CALLS = 300
_BLOCK = 20
_WARM_UP = 5
_STARTS = 10
_REST_SECONDS = 1.0
_TEXT = "Two branches of the parser read the same header, and only one of them checks its length. " * 2


async def run() -> list[Result]:
    from mcp import StdioServerParameters

    results = await _compare(
        "stdio", scripted(readOnly=["echo"]), StdioServerParameters(command=sys.executable, args=[SERVER])
    )
    with _http_server() as url:
        results += await _compare("HTTP", {"url": url, "readOnly": ["echo"]}, url)
    return results + _starts()


async def _compare(transport: str, entry: dict[str, Any], bare: Any) -> list[Result]:
    from mcp import Client

    with tempfile.TemporaryDirectory() as directory:
        bench = McpBench(Path(directory), {"s": entry})
        numbers = itertools.count()
        try:
            async with (
                _task(Path(directory), bench) as context,
                Client(bare, mode="legacy" if transport == "stdio" else "auto") as client,
            ):
                await client.list_tools()
                assert (await bench.call("s__echo", text=_TEXT)).status == "success"  # you accept its tools

                async def through_us() -> None:
                    call = ToolCall(f"c{next(numbers)}", "s__echo", {"text": _TEXT})
                    (outcome,) = await bench.executor.batch([call], context)
                    assert outcome.content == _TEXT

                async def through_the_sdk() -> None:
                    result = await client.call_tool("echo", {"text": _TEXT})
                    assert result.content[0].text == _TEXT

                (ours, used), (theirs, they_used) = await _measure(through_us, through_the_sdk)
        finally:
            await bench.close()
    name, baseline = f"a call of an MCP tool over {transport}", "the SDK's bare call"
    return [
        Result(name, ours * 1000, "ms", ours / theirs, baseline, most_ratio=1.3),
        Result(f"{name}: processor", used * 1000, "ms", used / they_used, baseline, most_ratio=1.3),
    ]


@asynccontextmanager
async def _task(directory: Path, bench: McpBench) -> AsyncIterator[BatchContext]:
    """A claimed task, whose calls are written to a journal on disk."""
    journal = await SqliteJournal.open(directory / "journal.db")
    try:
        workspace = str(bench.workspace)
        request = StoredRequest(
            task="x", workspace=workspace, conversation_id="c", context=Context(), options=Options()
        )
        await journal.create(NewTask("t_1", request, [StatusEvent(status=Status.QUEUED)]))
        claim = await journal.claim("bench", 0.0, 3_600.0)
        assert claim is not None
        yield BatchContext(workspace, "ask", TaskRun(claim, journal, Slots(1, lambda: None)).ledger)
    finally:
        await journal.close()


async def _measure(*calls: Callable[[], Awaitable[None]]) -> list[tuple[float, float]]:
    """Medians of time and of processor time of a call.

    They take turns, so that a busy neighbour disturbs all of them alike; in blocks, because each would otherwise find
    the code that they share warm, and its own cold.
    """
    times: list[list[tuple[float, float]]] = [[] for _ in calls]
    for _ in range(_CALLS // _BLOCK):
        for place, call in enumerate(calls):
            for number in range(_WARM_UP + _BLOCK):
                used, before = time.process_time(), time.perf_counter()
                await call()
                if number >= _WARM_UP:
                    times[place].append((time.perf_counter() - before, time.process_time() - used))
    return [
        (statistics.median(wall), statistics.median(used))
        for wall, used in (zip(*taken, strict=True) for taken in times)
    ]


def _starts() -> list[Result]:
    """The sidecar without an `mcp.json`, with an empty one, and with two servers that nobody uses yet."""
    for folder in ("sidecar", "tools", "bridge"):
        compileall.compile_dir(PROJECT / folder, quiet=2)
    written = {"no mcp.json": None, "an empty mcp.json": {}, "two unused servers": {"a": scripted(), "b": scripted()}}
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in written}
    with tempfile.TemporaryDirectory() as directory:
        for number in range(1 + _STARTS):
            for name, servers in written.items():
                home = Path(directory) / name
                place = home / "config" / "rainy-brain"
                place.mkdir(parents=True, exist_ok=True)
                if servers is not None:
                    (place / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
                measured = _start(home)
                if number:  # the first one makes its journal
                    taken[name].append(measured)
    medians = {name: [statistics.median(each) for each in zip(*found, strict=True)] for name, found in taken.items()}
    used, memory = medians.pop("no mcp.json")
    results = [Result("start with no mcp.json: processor", used, "ms"), Result("  its memory", memory, "MB")]
    for name, (also_used, also_memory) in medians.items():
        ratio = also_used / used
        results.append(Result(f"start with {name}: processor", also_used, "ms", ratio, "no mcp.json", most_ratio=1.05))
        ratio = also_memory / memory
        results.append(Result("  its memory", also_memory, "MB", ratio, "no mcp.json", most_ratio=1.02))
    return results


def _start(home: Path) -> tuple[float, float]:
    """Processor time in ms until it is ready, and megabytes at rest."""
    command = [sys.executable, "-m", "sidecar", "serve", "--port", "0", "--data-dir", str(home / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=clean_environ(home), cwd=PROJECT) as process:
        assert process.stdout is not None
        process.stdout.readline()
        threads = Path(f"/proc/{process.pid}/task").glob("*/schedstat")
        used = sum(int(file.read_text().split()[0]) for file in threads) / 1e6
        time.sleep(_REST_SECONDS)
        memory = resident(process.pid) / 2**20
        process.terminate()
    return used, memory


@contextmanager
def _http_server() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.support.mcp.http_server"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()
