"""F4: the disk fails to sync: the file is opened and read again, and only what it does not hold is written."""

import sys
from pathlib import Path

import pytest

from tests.e2e.support import running_sidecar
from tests.faults.programs import needs
from tests.faults.workload import Witness, check_completed, check_effects, check_integrity, start_task


@needs("strace")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("failing", ["2", "3..5", "4+3"])
def test_f04_a_failed_sync_is_never_retried_blindly(failing: str, tmp_path: Path) -> None:
    trace = ("strace", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf", "-e", "trace=fdatasync,fsync")
    inject = ("-e", f"inject=fdatasync,fsync:error=EIO:when={failing}")
    workspace, witness = tmp_path / "project", Witness()
    with running_sidecar(tmp_path) as sidecar:
        sidecar.close()
        sidecar.launcher = (*trace, *inject, sys.executable, "-m", "sidecar")
        sidecar.start()
        task_id = start_task(sidecar, workspace)
        task = sidecar.wait_for_end(task_id, seconds=60)
        witness.look(sidecar, task_id)
        check_effects(workspace)
        check_completed(task, workspace)
        sidecar.restart()
        witness.look(sidecar, task_id)
        sidecar.stop()
        check_integrity(sidecar.data_dir / "journal.db")
    assert "The journal can be written again" in sidecar.log_file.read_text()
