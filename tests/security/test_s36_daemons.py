"""S36: a daemon without our marks in its environment ends with its call, and with the sidecar, also after `kill -9`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.security.sandboxed import make_tier
from tests.waiting import until_true

_ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["bubblewrap", "landlock"])
def tier(request: pytest.FixtureRequest) -> str:
    if make_tier(request.param) is None:
        pytest.skip(f"this machine has no {request.param}")
    return str(request.param)


def daemons(root: Path) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"DAEMON{root.name}".encode() in words:
            found.append(int(place.name))
    return found


def guardians() -> set[int]:
    lines = ((place, _line(place)) for place in Path("/proc").glob("[0-9]*"))
    return {int(place.name) for place, line in lines if b"\0guardian\0" in line}


def _line(place: Path) -> bytes:
    try:
        return (place / "cmdline").read_bytes()
    except OSError:
        return b""


def start(tier: str, root: Path, *words: str) -> "subprocess.Popen[str]":
    line = [sys.executable, "-m", "tests.security.daemons", tier, str(root), *words]
    return subprocess.Popen(line, cwd=_ROOT, stdout=subprocess.PIPE, text=True)


async def test_s36_a_daemon_dies_with_a_sidecar_that_is_killed(tier: str, tmp_path: Path) -> None:
    before = guardians()
    with start(tier, tmp_path) as sidecar:
        assert sidecar.stdout is not None and sidecar.stdout.readline() == "running\n"
        assert daemons(tmp_path)
        assert (tmp_path / "workspace/daemon.txt").read_text() == "kept kept kept"
        sidecar.kill()
        sidecar.wait()
        await until_true(lambda: not daemons(tmp_path))
        await until_true(lambda: guardians() <= before)


async def test_s36_a_daemon_dies_with_its_call_while_another_call_runs(tier: str, tmp_path: Path) -> None:
    before = guardians()
    with start(tier, tmp_path, "kept") as sidecar:
        assert sidecar.stdout is not None and sidecar.stdout.readline() == "success\n"
        assert daemons(tmp_path) == []
        sidecar.wait()
    await until_true(lambda: guardians() <= before)
