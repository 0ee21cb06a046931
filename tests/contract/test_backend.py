"""What every backend promises, wherever it carries out a call. A new backend is one more parameter of the fixture."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import loopback
from tests.waiting import until_true
from tools.backend import Backend
from tools.errors import ToolError
from tools.executor.registry import default_registry
from tools.local.backend import LocalBackend
from tools.spec import Call, ToolResult

REGISTRY = default_registry()


class Place:
    """A backend with a workspace, and the short way to call it."""

    def __init__(self, backend: Backend, workspace: Path) -> None:
        self.backend = backend
        self.workspace = workspace
        self.output: list[tuple[str, str]] = []
        self.killed: list[tuple[int, str]] = []
        self._count = 0

    async def run(self, tool: str, timeout: float = 5.0, **args: Any) -> ToolResult:
        self._count += 1
        call = Call(f"call-{self._count}", str(self.workspace), timeout, killed=lambda *each: self.killed.append(each))
        return await self.backend.run(REGISTRY.get(tool), args, call, lambda *each: self.output.append(each))


@pytest.fixture(params=["local", "shell"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    if request.param == "shell":
        async with loopback() as bridge, bridge.reference_shell(workspace, tmp_path / "data"):
            yield Place(bridge.backend, workspace)
        return
    backend = LocalBackend(REGISTRY, tmp_path / "data")
    yield Place(backend, workspace)
    await backend.close()


async def test_it_offers_what_it_can_do(place: Place) -> None:
    assert place.backend.offers("read_file", str(place.workspace))
    assert not place.backend.offers("no_such_tool", str(place.workspace))


async def test_a_file_is_written_read_edited_and_deleted(place: Place) -> None:
    await place.run("write_file", path="d/a.txt", content="one\n")
    assert (place.workspace / "d/a.txt").read_text() == "one\n"
    assert (await place.run("read_file", path="d/a.txt")).content == "1 one"
    await place.run("edit_file", path="d/a.txt", oldText="one", newText="two")
    assert (place.workspace / "d/a.txt").read_text() == "two\n"
    await place.run("delete_file", path="d/a.txt")
    assert not (place.workspace / "d/a.txt").exists()


async def test_what_cannot_be_done_is_a_tool_error_with_a_code(place: Place) -> None:
    with pytest.raises(ToolError) as caught:
        await place.run("read_file", path="missing")
    assert caught.value.code == "not_found"
    with pytest.raises(ToolError) as caught:
        await place.run("read_file", path="../outside")
    assert caught.value.code == "path_denied"


async def test_a_command_gives_its_output_live_and_its_exit_code(place: Place) -> None:
    result = await place.run("run_command", command="echo out; echo err >&2; exit 3")

    assert isinstance(result.details, dict) and result.details["exitCode"] == 3
    assert ("stdout", "out\n") in place.output and ("stderr", "err\n") in place.output


async def test_a_command_ends_at_its_time_limit(place: Place) -> None:
    result = await place.run("run_command", timeout=0.1, command="echo began; sleep 1000")

    assert isinstance(result.details, dict) and result.details["timedOut"] is True
    assert "began" in result.content


async def test_a_cancel_reaches_the_process(place: Place) -> None:
    running = asyncio.create_task(place.run("run_command", command="echo $$ > pid; exec sleep 1000"))
    written = place.workspace / "pid"
    await until_true(lambda: written.exists() and written.read_text().strip())
    pid = int((place.workspace / "pid").read_text())
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert not Path(f"/proc/{pid}").exists()


async def test_a_search_finds_what_is_there(place: Place) -> None:
    (place.workspace / "a.py").write_text("needle = 1\n")

    assert (await place.run("search_code", query="needle")).content == "a.py\n1:needle = 1"
