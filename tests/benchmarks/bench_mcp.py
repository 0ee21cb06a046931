"""What a call of an MCP tool costs through our executor, beside the SDK's bare call of the same server, in one run."""

import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.benchmarks.result import Result
from tests.support.mcp.bench import SERVER, McpBench, scripted

_CALLS = 300
_WARM_UP = 30


async def run() -> list[Result]:
    from mcp import Client, StdioServerParameters

    bare = StdioServerParameters(command=sys.executable, args=[SERVER])
    with tempfile.TemporaryDirectory() as directory:
        bench = McpBench(Path(directory), {"s": scripted(readOnly=["echo"])})
        try:
            async with Client(bare, mode="legacy") as client:
                await client.list_tools()

                async def through_us() -> None:
                    assert (await bench.call("s__echo", text="x" * 200)).status == "success"

                async def through_the_sdk() -> None:
                    assert not (await client.call_tool("echo", {"text": "x" * 200})).is_error

                ours, theirs = await _medians(through_us, through_the_sdk)
        finally:
            await bench.close()
    return [
        Result("a call of an MCP tool", ours * 1000, "ms", ours / theirs, "the SDK's bare call", most_ratio=1.3),
    ]


async def _medians(*calls: Callable[[], Awaitable[None]]) -> list[float]:
    """Taken in turns, so that a busy neighbour disturbs all of them alike."""
    times: list[list[float]] = [[] for _ in calls]
    for number in range(_CALLS + _WARM_UP):
        for place, call in enumerate(calls):
            before = time.perf_counter()
            await call()
            if number >= _WARM_UP:
                times[place].append(time.perf_counter() - before)
    return [statistics.median(each) for each in times]
