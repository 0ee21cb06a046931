"""F2: killed at each write to the journal in turn, by the kernel, in the middle of the write call."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.support import running_sidecar
from tests.faults.programs import needs
from tests.faults.scale import scaled
from tests.faults.workload import Witness, check_completed, check_effects, check_integrity, start_task

FIRST, LAST = 12, scaled(48, 140)
STRIDE = scaled(4, 1)


@needs("strace")
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("write", range(FIRST, LAST, STRIDE))
def test_f02_a_kill_at_a_write_to_the_journal_loses_and_doubles_nothing(write: int, tmp_path: Path) -> None:
    plain = (sys.executable, "-m", "sidecar")
    dying = ("strace", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf", "-e", "trace=pwrite64")
    workspace, witness = tmp_path / "project", Witness()
    with running_sidecar(tmp_path) as sidecar:
        task_id = start_task(sidecar, workspace)
        witness.look(sidecar, task_id)
        sidecar.kill()
        sidecar.launcher = (*dying, "-e", f"inject=pwrite64:signal=SIGKILL:when={write}", *plain)
        sidecar.start()
        assert sidecar.process is not None
        try:
            sidecar.process.wait(5)
        except subprocess.TimeoutExpired:
            assert sidecar.task(task_id)["status"] == "completed", "it was to die at that write"
        sidecar.close()
        sidecar.launcher = plain
        sidecar.start()
        witness.look(sidecar, task_id)
        task = sidecar.wait_for_end(task_id)
        check_effects(workspace)
        check_completed(task, workspace)
        sidecar.stop()
        check_integrity(sidecar.data_dir / "journal.db")
