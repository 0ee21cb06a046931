"""The panel built from these sources, Node.js and Chromium, for the stories."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
CHROMIUM = (os.environ.get("CHROMIUM", ""), "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")

Node = Callable[..., str]


@pytest.fixture(scope="session")
def chromium() -> Iterator[str]:
    """The address of a browser that all stories of this process use, each with a context of its own."""
    command = ["node", str(HERE / "browser_server.mjs")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as server:
        assert server.stdin and server.stdout
        yield server.stdout.readline().strip()
        server.stdin.close()


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    """Runs a script of this directory and returns its output; fails if the script does."""
    if shutil.which("npm") is None:
        pytest.skip("Node.js is missing; the panel can't be built without it")
    if not any(path and Path(path).exists() for path in CHROMIUM):
        pytest.skip("Chromium is missing: install it, or set CHROMIUM to its path")
    # One pytest worker builds the panel, the others wait for it.
    lock = PROJECT / "frontend" / ".build-lock"
    built = _with_lock(lock, ["make", "--no-print-directory", "panel"])
    assert built.returncode == 0, built.stdout + built.stderr
    environ = {**os.environ, "BRAIN_PYTHON": sys.executable, "BRAIN_PICTURES": str(tmp_path_factory.mktemp("pictures"))}

    def run(script: str, *arguments: str, seconds: float = 140, browser: str = "") -> str:
        command = ["node", str(HERE / script), *arguments]
        settings = {**environ, "BRAIN_BROWSER": browser}
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=settings, cwd=PROJECT)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def _with_lock(lock: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    with lock.open("w") as held:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX)
        return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300)
