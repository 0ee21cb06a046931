"""What a call over the bridge costs, beside a bare echo over the same kind of WebSocket, in one run."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from tests.benchmarks.result import Result
from tests.support.loopback import loopback
from tools.executor.registry import Registry, default_registry
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec

_CALLS = 1_500
_WARM_UP = 200


class NothingArguments(Arguments):
    path: str


async def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / "workspace").mkdir()
        (root / "workspace" / "a.txt").write_text("one line\n" * 20)
        return await _measured(root)


async def _measured(root: Path) -> list[Result]:
    workspace = root / "workspace"
    read_file, nothing = default_registry().get("read_file"), Nothing()
    async with (
        loopback() as bridge,
        bridge.reference_shell(workspace, root / "data", registry=Registry([read_file, nothing])),
        serve(_echo, "127.0.0.1", 0, compression=None) as server,
        connect(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}", compression=None, proxy=None) as bare,
    ):

        async def over_the_bridge(number: int) -> None:
            call = Call(f"c{number}", str(workspace), 30.0)
            await bridge.backend.run(nothing, {"path": "a.txt"}, call, lambda stream, text: None)

        async def reading(number: int) -> None:
            call = Call(f"r{number}", str(workspace), 30.0)
            await bridge.backend.run(read_file, {"path": "a.txt"}, call, lambda stream, text: None)

        # The same number of bytes there and back.
        question, answer = "x" * 150, "y" * 500

        async def echo(number: int) -> None:
            await bare.send(question)
            assert len(await bare.recv()) == len(answer)

        median, read_median, bare_median = await _medians(over_the_bridge, reading, echo)
    ratio = median / bare_median
    milliseconds = round(read_median * 1000, 3)
    return [
        Result("read_file over the bridge", milliseconds, "ms", most=2),
        Result(
            "a call over the bridge, beside its tool's own work",
            round(median * 1000, 3),
            "ms",
            ratio=round(ratio, 2),
            baseline=f"a bare websockets echo, {bare_median * 1000:.3f} ms",
            most_ratio=3,
        ),
    ]


class Nothing:
    """A tool without work of its own, so that what remains is the bridge."""

    spec = ToolSpec("nothing", "Does nothing.", NothingArguments, executor="hybrid")

    async def run(self, args: NothingArguments, host: Host, call: Call, output: Output) -> ToolResult:
        return ToolResult("y" * 300, details={"path": args.path})


async def _echo(connection: ServerConnection) -> None:
    async for _ in connection:
        await connection.send("y" * 500)


async def _medians(*acts: Callable[[int], Awaitable[None]]) -> list[float]:
    """Taken in turn, so that whatever else the machine does falls on all of them alike."""
    times: list[list[float]] = [[] for _ in acts]
    for number in range(_WARM_UP + _CALLS):
        for act, taken in zip(acts, times, strict=True):
            began = time.perf_counter()
            await act(number)
            taken.append(time.perf_counter() - began)
    return [statistics.median(taken[_WARM_UP:]) for taken in times]


if __name__ == "__main__":
    for result in asyncio.run(run()):
        print(result)
