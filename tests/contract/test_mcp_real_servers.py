"""Servers that people really use, from npm and PyPI, through our executor and sandbox."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp import packages
from tests.support.mcp.bench import McpBench
from tools.mcp.references import McpReferences

pytest.importorskip("mcp", reason="the package mcp is not installed")

Make = Callable[..., McpBench]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    made: list[McpBench] = []

    def build(**servers: Any) -> McpBench:
        made.append(McpBench(tmp_path, servers))
        return made[-1]

    yield build
    for each in made:
        await each.close()


FROM_PYPI = pytest.mark.skipif(
    os.environ.get("BRAIN_CONFORMANCE") != "full", reason="installing it takes a minute: run `make conformance`"
)


def from_npm(package: str, program: str, *arguments: str, **more: Any) -> dict[str, Any]:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    place = packages.npm(package)
    script = str((place / "node_modules" / ".bin" / program).resolve())
    return {
        "command": "node",
        "args": [script, *arguments],
        "grants": {"read": [str(place)], **more.pop("grants", {})},
        **more,
    }


async def test_the_reference_server_echoes_adds_and_reports_progress(make: Make) -> None:
    bench = make(everything=from_npm("@modelcontextprotocol/server-everything", "mcp-server-everything", "stdio"))
    echo = await bench.call("everything__echo", message="hello")
    assert (echo.status, echo.content) == ("success", "Echo: hello")
    slow = await bench.call("everything__trigger-long-running-operation", duration=1, steps=2)
    assert slow.status == "success", slow.content
    image = await bench.call("everything__get-tiny-image")
    assert isinstance(image.details, dict)
    assert image.details["attachments"]


async def test_the_filesystem_server_reads_the_workspace_and_writes_only_with_a_grant(
    make: Make, tmp_path: Path
) -> None:
    place = str(tmp_path / "workspace")
    package = "@modelcontextprotocol/server-filesystem"
    bench = make(
        reading=from_npm(package, "mcp-server-filesystem", place),
        writing=from_npm(package, "mcp-server-filesystem", place, grants={"write": [place]}),
    )
    (bench.workspace / "notes.txt").write_text("water the plants\n")
    read = await bench.call("reading__read_text_file", path=f"{place}/notes.txt")
    assert "water the plants" in read.content
    outside = await bench.call("reading__read_text_file", path="/etc/passwd")
    assert outside.status == "error"
    if bench.sandboxes.available():
        refused = await bench.call("reading__write_file", path=f"{place}/new.txt", content="x")
        assert refused.status == "error"
    written = await bench.call("writing__write_file", path=f"{place}/new.txt", content="x")
    assert written.status == "success", written.content
    assert [file.path for file in written.files] == ["new.txt"]


async def test_the_memory_server_keeps_what_it_is_told_where_it_may_write(make: Make, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    entry = from_npm(
        "@modelcontextprotocol/server-memory",
        "mcp-server-memory",
        env={"MEMORY_FILE_PATH": str(kept / "memory.jsonl")},
        grants={"write": [str(kept)]},
    )
    bench = make(memory=entry)
    made = await bench.call(
        "memory__create_entities", entities=[{"name": "Ada", "entityType": "person", "observations": ["likes tea"]}]
    )
    assert made.status == "success", made.content
    assert "likes tea" in (await bench.call("memory__read_graph")).content
    assert "Ada" in (kept / "memory.jsonl").read_text()


@FROM_PYPI
async def test_the_git_server_reads_a_repository(make: Make, tmp_path: Path) -> None:
    programs = packages.python("mcp-server-git")
    place = tmp_path / "workspace"
    bench = make(git={"command": str(programs / "mcp-server-git"), "args": ["--repository", str(place)]})
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    (place / "a.txt").write_text("new\n")
    status = await bench.call("git__git_status", repo_path=str(place))
    assert status.status == "success", status.content
    assert "a.txt" in status.content


@FROM_PYPI
async def test_the_fetch_server_lists_its_tools_and_reaches_no_one_without_a_grant(make: Make) -> None:
    programs = packages.python("mcp-server-fetch")
    bench = make(fetch={"command": str(programs / "mcp-server-fetch")})
    outcome = await bench.call("fetch__fetch", url="http://127.0.0.1:9/")
    assert outcome.status in ("error", "unknown")
    assert bench.status("fetch").tools == ("fetch__fetch",)


async def test_a_real_server_that_is_killed_comes_back(make: Make) -> None:
    bench = make(everything=from_npm("@modelcontextprotocol/server-everything", "mcp-server-everything", "stdio"))
    assert (await bench.call("everything__echo", message="1")).status == "success"
    connection = bench.servers.connection(bench.servers.entries(str(bench.workspace))["everything"])
    pid = connection._peer.pid  # type: ignore[union-attr]
    os.killpg(pid, signal.SIGKILL)
    await connection._peer.ended.wait()  # type: ignore[union-attr]
    again = await bench.call("everything__echo", message="2")
    assert (again.status, json.dumps(again.content)) == ("success", '"Echo: 2"')


def peer_of(bench: McpBench, name: str) -> Any:
    workspace = str(bench.workspace)
    return bench.servers.connection(bench.servers.entries(workspace)[name])._peer


async def test_a_real_server_that_hangs_blocks_for_two_seconds_and_is_replaced(make: Make) -> None:
    bench = make(everything=from_npm("@modelcontextprotocol/server-everything", "mcp-server-everything", "stdio"))
    assert (await bench.call("everything__echo", message="1")).status == "success"
    for pid in processes_below(peer_of(bench, "everything").pid):
        os.kill(pid, signal.SIGSTOP)
    before = time.monotonic()
    hung = await bench.call("everything__echo", message="2")
    took = time.monotonic() - before
    assert hung.status == "unknown"
    assert "no sign of life for 2 s" in hung.content
    # Two seconds of silence, a look every quarter of a second, and what a busy machine adds.
    assert took < 3.0 * (1 + os.getloadavg()[0])
    assert (await bench.call("everything__echo", message="3")).content == "Echo: 3"


async def test_a_real_server_whose_tools_change_is_blocked_until_accepted(make: Make) -> None:
    """As after an update of its package: another version of the same entry lists other tools."""
    entry = from_npm("@modelcontextprotocol/server-memory", "mcp-server-memory")
    bench = make(server=entry)
    assert (await bench.call("server__read_graph")).status == "success"
    other = from_npm("@modelcontextprotocol/server-everything", "mcp-server-everything", "stdio")
    await bench.close()
    bench.write({"server": other})
    bench.open()
    bench.ledger.answer = "deny"
    blocked = await bench.call("server__echo", message="x")
    assert blocked.error is not None
    asked = bench.ledger.questions[-1]
    assert asked.why == "the tools of the MCP server server are not those that you accepted"
    assert "-read_graph" in (asked.diff or "")
    assert "+echo" in (asked.diff or "")
    assert bench.status("server").state == "changed"


async def test_resources_and_prompts_of_the_reference_server_can_be_named(make: Make) -> None:
    bench = make(everything=from_npm("@modelcontextprotocol/server-everything", "mcp-server-everything", "stdio"))
    assert (await bench.call("everything__echo", message="1")).status == "success"
    references, workspace = McpReferences(bench.servers), str(bench.workspace)
    found = await references.all(workspace)
    assert await references.read("everything", found.resources[0].uri, workspace)
    prompt = next(each for each in found.prompts if not each.arguments)
    assert await references.prompt("everything", prompt.name, "", workspace)


def processes_below(pid: int) -> list[int]:
    """The process and all that it started, such as a sandbox and what runs in it."""
    parents: dict[int, list[int]] = {}
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            with suppress(OSError):
                fields = (each / "stat").read_text().rpartition(")")[2].split()
                parents.setdefault(int(fields[1]), []).append(int(each.name))
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        waiting += parents.get(found[-1], [])
    return found
