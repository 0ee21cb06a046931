"""S24, F16 in every tier: daemons, endless forks and deaf processes end with their call, and a cancel ends them too."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.faults.runaway_commands import COMMANDS
from tests.security.sandboxed import SandboxedWorkbench
from tests.waiting import SECONDS, until_true


@pytest.fixture(params=["bubblewrap", "landlock"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SandboxedWorkbench]:
    bench = SandboxedWorkbench(tmp_path, request.param)
    yield bench
    await bench.executor.close()


@pytest.mark.parametrize("name", COMMANDS)
async def test_s24_it_ends_by_its_deadline_and_leaves_nothing(bench: SandboxedWorkbench, name: str) -> None:
    began = time.monotonic()
    await bench.call("run_command", command=COMMANDS[name], timeoutMs=400)
    assert time.monotonic() - began < SECONDS
    assert _left() == []


@pytest.mark.parametrize("name", ["daemonizes and stays", "ignores SIGTERM", "forks new sessions without end"])
async def test_s24_a_cancel_ends_everything_inside(bench: SandboxedWorkbench, name: str) -> None:
    calling = asyncio.create_task(bench.call("run_command", command=COMMANDS[name], timeoutMs=60_000))
    await until_true(_left)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert _left() == []


async def test_s24_what_runs_in_the_background_is_stopped_to_the_last(bench: SandboxedWorkbench) -> None:
    command = "(setsid sleep 1000 &); sleep 1000 & wait"
    await bench.call("run_command", call_id="later", command=command, background=True)
    await until_true(lambda: len(_left()) >= 2)
    await bench.call("stop_command", commandId="later")
    assert _left() == []


def _left() -> list[str]:
    """What sleeps for a thousand seconds beneath this process, or was handed to it."""
    parents, found = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state = (place / "stat").read_text().rpartition(")")[2].split()
            parents[int(place.name)] = int(state[1])
            line = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if line.startswith(b"sleep\x001000") and state[0] not in "ZX":
            found[int(place.name)] = line.decode()
    return [line for pid, line in found.items() if _beneath(pid, parents)]


def _beneath(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = parents.get(pid, 0)
    return False
