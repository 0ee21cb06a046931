"""F16: daemons, endless forks, deaf processes, floods, held pipes: ended by the deadline, and nothing is left."""

import os
import time
from pathlib import Path

import pytest

from tests.faults.runaway_commands import COMMANDS
from tests.faults.scale import scaled
from tests.support.workbench import workbench
from tests.waiting import SECONDS

#: Of this test process alone: the same tests may run beside it.
CALL = f"f16-{os.getpid()}"
MARK = f"BRAIN_CALL_ID={CALL}\0".encode()


def _all() -> set[str]:
    return {place.name for place in Path("/proc").iterdir() if place.name.isdecimal()}


def _marked(before: set[str]) -> list[str]:
    """Every living process since then that carries the mark of a call of this test process."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal() and place.name not in before:
            try:
                environ = (place / "environ").read_bytes()
                state = (place / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            orphan = state[1] == str(os.getpid()) and b"PATH=" not in environ
            if (MARK in environ or orphan) and state[0] not in "ZX":
                found.append((place / "cmdline").read_text())
    return found


@pytest.mark.parametrize("name", COMMANDS)
async def test_f16_it_ends_by_its_deadline_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    async with workbench(tmp_path) as bench:
        began, before = time.monotonic(), _all()
        outcome = await bench.call("run_command", CALL, command=COMMANDS[name], timeoutMs=300)

        assert time.monotonic() - began < SECONDS, "the command alone would take 1000 s"
        assert outcome.status in ("success", "error")
        assert _marked(before) == []


async def test_f16_a_flood_keeps_head_and_tail_and_ends(tmp_path: Path) -> None:
    size = scaled(100_000_000, 1_000_000_000)
    async with workbench(tmp_path) as bench:
        outcome = await bench.call(
            "run_command", CALL, command=f"echo first; head -c {size} /dev/zero | tr '\\0' x; echo; echo last"
        )

        assert outcome.content.startswith("first\nx") and outcome.content.endswith("last")
        assert f"{size + 12 - 2 * 24 * 1024} bytes left out" in outcome.content
        log = bench.data_dir / "output" / f"{CALL}.log"
        assert log.stat().st_size == 64 * 1024 * 1024


async def test_f16_an_endless_flood_ends_at_its_deadline(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        began, before = time.monotonic(), _all()
        outcome = await bench.call("run_command", CALL, command="yes", timeoutMs=300)

        assert time.monotonic() - began < SECONDS
        assert outcome.error is not None and outcome.error.code == "timed_out"
        assert _marked(before) == []


def dead_children() -> set[str]:
    """Processes of ours that have ended and that nobody has collected."""
    return {
        place.name
        for place in Path("/proc").iterdir()
        if place.name.isdecimal()
        and (place / "stat").exists()
        and (fields := (place / "stat").read_text().rpartition(")")[2].split())[1] == str(os.getpid())
        and fields[0] == "Z"
    }


async def test_f16_no_dead_child_is_left_unburied(tmp_path: Path) -> None:
    before = dead_children()
    async with workbench(tmp_path) as bench:
        for _ in range(20):
            await bench.call("run_command", command="(sleep 0.001 &) ; (sleep 1000 &)")

        assert dead_children() <= before
