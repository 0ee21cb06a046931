"""F4: the disk fails to sync: the file is opened and read again, and only what it does not hold is written."""

import signal
from pathlib import Path

import pytest

from tests.e2e.support import running_sidecar
from tests.faults.programs import needs
from tests.faults.tracing import end_traced, start_traced
from tests.faults.workload import Witness, check_completed, check_effects, check_integrity, start_task


@needs("strace")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("failing", ["3", "5..8", "4+3"])
def test_f04_a_failed_sync_is_never_retried_blindly(failing: str, tmp_path: Path) -> None:
    workspace, witness = tmp_path / "project", Witness()
    with running_sidecar(tmp_path) as sidecar:
        sidecar.close()
        assert start_traced(sidecar, "fdatasync", f"error=EIO:when={failing}")
        task_id = start_task(sidecar, workspace)
        task = sidecar.wait_for_end(task_id)
        witness.look(sidecar, task_id)
        check_effects(workspace)
        check_completed(task, workspace)
        end_traced(sidecar, signal.SIGTERM)
        sidecar.start()
        witness.look(sidecar, task_id)
        sidecar.stop()
        check_integrity(sidecar.data_dir / "journal.db")
        assert "The journal is writable again" in sidecar.log_file.read_text(), "no sync failed"
