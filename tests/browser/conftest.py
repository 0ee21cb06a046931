"""What the stories need: the panel built from these sources, Node.js, and a Chromium."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
CHROMIUM = (os.environ.get("CHROMIUM", ""), "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")

Node = Callable[..., str]


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    """Runs a script of this directory; its output, if it went well."""
    if shutil.which("npm") is None:
        pytest.skip("Node.js is missing: the panel cannot be built or driven without it")
    if not any(path and Path(path).exists() for path in CHROMIUM):
        pytest.skip("there is no Chromium: install the package chromium, or name one in CHROMIUM")
    # Several workers of pytest may come here at once; one builds, the others wait for it.
    lock = PROJECT / "frontend" / ".build-lock"
    built = _with_lock(lock, ["make", "--no-print-directory", "panel"])
    assert built.returncode == 0, built.stdout + built.stderr
    environ = {**os.environ, "BRAIN_PYTHON": sys.executable, "BRAIN_PICTURES": str(tmp_path_factory.mktemp("pictures"))}

    def run(script: str, *arguments: str, seconds: float = 140) -> str:
        command = ["node", str(HERE / script), *arguments]
        told = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environ, cwd=PROJECT)
        assert told.returncode == 0, told.stdout + told.stderr
        return told.stdout

    return run


def _with_lock(lock: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    with lock.open("w") as held:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX)
        return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300)
