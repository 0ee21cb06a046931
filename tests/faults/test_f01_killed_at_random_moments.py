"""F1: kill -9 at random moments of real tasks: nothing acknowledged is lost, nothing is done twice, all go on."""

import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.support import PROJECT, RunningSidecar, running_sidecar
from tests.faults.scale import scaled
from tests.faults.workload import Witness, check_completed, check_effects, check_integrity, start_task

KILLS = scaled(20, 500)
MUTANT_KILLS = scaled(60, 120)
#: The longest life, as a part of the time that an undisturbed task takes.
LONGEST_LIFE = 0.8


class EffectDoubled(AssertionError):
    pass


def kill_and_restart(sidecar: RunningSidecar, tmp_path: Path, kills: int, chance: random.Random) -> None:
    witness = Witness()
    workspaces: dict[str, Path] = {}
    longest = LONGEST_LIFE * time_of_a_task(sidecar, tmp_path / "undisturbed")
    slowest = 0.0
    for number in range(kills):
        open_tasks = [task_id for task_id in workspaces if sidecar.task(task_id)["status"] != "completed"]
        if len(open_tasks) < 2:
            workspace = tmp_path / f"workspace{number}"
            workspaces[start_task(sidecar, workspace)] = workspace
        try:
            assert sidecar.process is not None
            sidecar.process.wait(chance.uniform(0, longest))
        except subprocess.TimeoutExpired:
            sidecar.kill()
        began = time.monotonic()
        sidecar.start()
        slowest = max(slowest, time.monotonic() - began)
        for task_id in workspaces:
            witness.look(sidecar, task_id)
        for workspace in workspaces.values():
            try:
                check_effects(workspace)
            except AssertionError as error:
                raise EffectDoubled(str(error)) from error
    for task_id, workspace in workspaces.items():
        sidecar.wait_for_end(task_id)
        witness.look(sidecar, task_id)
        check_effects(workspace)
        check_completed(sidecar.task(task_id), workspace)
    sidecar.stop()
    check_integrity(sidecar.data_dir / "journal.db")
    print(f"{kills} kills, {len(workspaces)} tasks, slowest start {slowest:.1f} s")


def time_of_a_task(sidecar: RunningSidecar, workspace: Path) -> float:
    began = time.monotonic()
    sidecar.wait_for_end(start_task(sidecar, workspace))
    return time.monotonic() - began


def with_launcher(sidecar: RunningSidecar, launcher: Sequence[str]) -> RunningSidecar:
    sidecar.close()
    sidecar.launcher = launcher
    return sidecar.start()


@pytest.mark.timeout(3_600)
def test_f01_nothing_is_lost_or_doubled_when_it_is_killed_at_random_moments(tmp_path: Path) -> None:
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    with running_sidecar(tmp_path) as sidecar:
        kill_and_restart(sidecar, tmp_path, KILLS, random.Random(seed))


@pytest.mark.timeout(3_600)
def test_f01_a_sidecar_that_does_not_settle_is_caught(tmp_path: Path) -> None:
    mutant = (sys.executable, str(PROJECT / "tests" / "faults" / "without_settling.py"))
    with running_sidecar(tmp_path, PYTHONPATH=str(PROJECT)) as sidecar:
        with_launcher(sidecar, mutant)
        with pytest.raises(EffectDoubled):
            kill_and_restart(sidecar, tmp_path, MUTANT_KILLS, random.Random(1))
