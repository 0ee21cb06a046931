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
