"""Servers that people really use, from npm and PyPI, through our executor and sandbox."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp import packages
from tests.support.mcp.bench import McpBench

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


async def test_the_git_server_reads_a_repository(make: Make, tmp_path: Path) -> None:
    programs = packages.python("mcp-server-git")
    place = tmp_path / "workspace"
    bench = make(git={"command": str(programs / "mcp-server-git"), "args": ["--repository", str(place)]})
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    (place / "a.txt").write_text("new\n")
    status = await bench.call("git__git_status", repo_path=str(place))
    assert status.status == "success", status.content
    assert "a.txt" in status.content


async def test_the_fetch_server_lists_its_tools_and_reaches_nobody_without_a_grant(make: Make) -> None:
    programs = packages.python("mcp-server-fetch")
    bench = make(fetch={"command": str(programs / "mcp-server-fetch")})
    outcome = await bench.call("fetch__fetch", url="http://127.0.0.1:9/")
    assert outcome.status in ("error", "unknown")
    assert bench.status("fetch").tools == ("fetch__fetch",)


async def test_a_real_server_that_is_killed_comes_back(make: Make) -> None:
    bench = make(everything=from_npm("@modelcontextprotocol/server-everything", "mcp-server-everything", "stdio"))
    assert (await bench.call("everything__echo", message="1")).status == "success"
    connection = bench.servers.connection(
        bench.servers.entries(str(bench.workspace))["everything"], str(bench.workspace)
    )
    pid = connection._peer.pid  # type: ignore[union-attr]
    os.killpg(pid, signal.SIGKILL)
    await connection._peer.ended.wait()  # type: ignore[union-attr]
    again = await bench.call("everything__echo", message="2")
    assert (again.status, json.dumps(again.content)) == ("success", '"Echo: 2"')
