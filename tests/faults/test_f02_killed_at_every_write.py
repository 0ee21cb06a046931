"""F2: killed at each write to the journal in turn, by the kernel, in the middle of the write call."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.support import running_sidecar
from tests.faults.programs import needs
from tests.faults.scale import scaled
from tests.faults.tracing import end_traced, start_traced
from tests.faults.workload import Witness, check_completed, check_effects, check_integrity, start_task
from tests.waiting import SECONDS

WRITES = range(1, 160, scaled(20, 1))


@needs("strace")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("write", WRITES)
def test_f02_a_kill_at_a_write_to_the_journal_loses_and_doubles_nothing(write: int, tmp_path: Path) -> None:
    workspace, witness = tmp_path / "project", Witness()
    with running_sidecar(tmp_path) as sidecar:
        task_id = start_task(sidecar, workspace)
        witness.look(sidecar, task_id)
        sidecar.kill()
        if start_traced(sidecar, "pwrite64", f"signal=SIGKILL:when={write}"):
            assert sidecar.process is not None
            try:
                sidecar.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                # The task was over before there were that many writes.
                assert sidecar.task(task_id)["status"] == "completed", "it was to die at that write"
                end_traced(sidecar, signal.SIGKILL)
        sidecar.close()
        sidecar.start()
        witness.look(sidecar, task_id)
        task = sidecar.wait_for_end(task_id)
        check_effects(workspace)
        check_completed(task, workspace)
        sidecar.stop()
        check_integrity(sidecar.data_dir / "journal.db")
