"""S35: pipes and devices in a workspace are never opened, by whatever name a tool comes across them."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.security.sandboxed import SandboxedWorkbench
from tests.support.workbench import workbench

#: Files that something of ours reads in a workspace.
_NAMES = """
pipe src/pipe.py .gitignore .gitattributes .git/config .git/HEAD .git/info/exclude .git/packed-refs pyproject.toml
package.json Makefile conftest.py README.md go.mod Cargo.toml tsconfig.json .brain/verify.toml .mcp.json AGENTS.md
setup.py pytest.ini tox.ini .env script.sh
"""


@contextmanager
def watched(paths: list[Path]) -> Iterator[list[str]]:
    """Names of pipes that somebody opened for reading: only then does opening for writing succeed."""
    opened: list[str] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            for path in paths:
                try:
                    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                except OSError:
                    continue
                opened.append(str(path))
            stop.wait(0.0005)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield opened
    finally:
        stop.set()
        thread.join()


def make_pipes(root: Path) -> list[Path]:
    paths = [root / name for name in _NAMES.split()]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    return paths


async def test_s35_no_tool_opens_a_pipe(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        (bench.workspace / ".git/objects").mkdir(parents=True)
        pipes = make_pipes(bench.workspace)
        bench.write("plain.txt", "text")
        with watched(pipes) as opened:
            for name in _NAMES.split():
                for tool in ("read_file", "analyze_code", "describe_file"):
                    await bench.call(tool, path=name)
                await bench.call("edit_file", path=name, oldText="a", newText="b")
            for tool in ("git_status", "git_log", "read_directory_tree"):
                await bench.call(tool)
            await bench.call("read_files", paths=["pipe", "plain.txt"])
            await bench.call("run_command", command="echo x > new.txt")
        assert opened == []


#: Below the top, where only the program that we start would come across them.
_NESTED = """
src/.gitignore src/deep/.gitignore src/.ignore src/.rgignore src/.gitattributes src/.git sub/.git/HEAD
sub/.git/commondir .git/refs/heads/main .git/refs/heads/feature/x .git/info/exclude .git/objects/info/alternates
.git/packed-refs .git/logs/HEAD .git/index .git/shallow
"""
_SEARCHES: list[tuple[str, dict[str, object]]] = [
    ("search_code", {"query": "needle"}),
    ("find_files", {"pattern": "*.py"}),
    ("find_symbols", {"query": "needle"}),
    ("get_workspace_info", {}),
    ("git_status", {}),
    ("git_log", {}),
    ("git_diff", {}),
    ("git_show", {"ref": "HEAD"}),
]


@pytest.mark.parametrize("name", _NESTED.split())
@pytest.mark.parametrize("kind", ["pipe", "/dev/urandom", "huge"])
async def test_s35_no_search_and_no_git_opens_a_nested_pipe_device_or_endless_file(
    tmp_path: Path, name: str, kind: str
) -> None:
    bench = SandboxedWorkbench(tmp_path, "landlock")
    bench.write("src/deep/a.py", "def needle(): ...\n")
    place = bench.workspace / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.is_dir():
        place.unlink(missing_ok=True)
    pipes = []
    if kind == "pipe":
        os.mkfifo(place)
        pipes = [place]
    elif kind == "huge":
        with place.open("wb") as file:
            file.truncate(64 << 30)
    else:
        place.symlink_to(kind)
    try:
        with watched(pipes) as opened:
            for tool, arguments in _SEARCHES:
                outcome = await bench.call(tool, **arguments)
                assert outcome.error is None or outcome.error.code != "timed_out", tool
        assert opened == []
    finally:
        await bench.executor.close()


async def test_s35_a_pipe_that_appears_after_a_search_is_seen_by_the_next_one(tmp_path: Path) -> None:
    bench = SandboxedWorkbench(tmp_path, "landlock")
    bench.write("src/deep/a.py", "needle\n")
    bench.write("real", "*.log\n")
    (bench.workspace / "src/.ignore").symlink_to("../real")
    try:
        assert (await bench.call("search_code", query="needle")).status == "success"
        for folder, target in (("src/deep", "pipe"), (".", "/dev/urandom")):
            place = bench.workspace / folder / (".gitignore" if target == "pipe" else "real")
            place.unlink(missing_ok=True)
            os.mkfifo(place) if target == "pipe" else place.symlink_to(target)
            outcome = await bench.call("search_code", query="needle")
            assert outcome.error is not None
            assert "pipe or a device" in outcome.error.message
            place.unlink()
        assert (await bench.call("search_code", query="needle")).status == "success"
    finally:
        await bench.executor.close()


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/ptmx", "/dev/tty"])
async def test_s35_a_link_to_a_device_is_no_configuration(tmp_path: Path, device: str) -> None:
    bench = SandboxedWorkbench(tmp_path, "landlock")
    (bench.workspace / ".git/config").unlink()
    (bench.workspace / ".git/config").symlink_to(device)
    (bench.workspace / ".gitignore").symlink_to(device)
    for tool in ("git_status", "read_directory_tree", "get_workspace_info"):
        outcome = await bench.call(tool)
        assert outcome.duration_ms < 30_000
    await bench.executor.close()
