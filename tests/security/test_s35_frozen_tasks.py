"""S35: a task that froze the sidecar twice isn't resumed by itself, and says so."""

import sys
from pathlib import Path

import pytest

from tests.e2e.support import RunningSidecar, running_sidecar
from tests.waiting import wait_until


def _freezes(sidecar: RunningSidecar) -> bool:
    return "Timeout" in (sidecar.data_dir / "watchdog").read_text()


@pytest.mark.timeout(300)
def test_s35_a_task_that_froze_the_sidecar_twice_waits_for_you(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, BRAIN_STALL_SECONDS="2") as sidecar:
        (sidecar.workspace / "freeze").mkdir()
        call = {"tool": "list_dir", "args": {"path": "freeze"}}
        models = sidecar.script("freeze", [{"text": "Looking.", "calls": [call]}, {"text": "done"}])
        sidecar.close()
        sidecar.launcher = (sys.executable, "-m", "tests.faults.freezing")
        sidecar.start()
        task_id = sidecar.execute("x", models=models, intent="chat")
        for _ in range(2):
            wait_until(lambda: _freezes(sidecar), seconds=60, what="the watchdog")
            sidecar.kill()
            sidecar.start()
        task = sidecar.task(task_id)
        assert task["status"] == "interrupted"
        events = sidecar.get(f"/api/brain/tasks/{task_id}/events?limit=500").json["events"]
        reasons = [event["reason"] for event in events if event["type"] == "status" and event.get("reason")]
        assert "hung twice" in reasons[-1]
        assert "resume it" in reasons[-1]
        assert not _freezes(sidecar)

        # It stays like that over more restarts, and other tasks work meanwhile.
        sidecar.launcher = (sys.executable, "-m", "sidecar")
        sidecar.restart()
        assert sidecar.task(task_id)["status"] == "interrupted"
        other = sidecar.execute("y", models=sidecar.script("fine", [{"text": "fine"}]), intent="chat")
        assert sidecar.wait_for_end(other)["status"] == "completed"
        assert sidecar.post(f"/api/brain/tasks/{task_id}/resume").status == 202
        assert sidecar.wait_for_end(task_id, seconds=60)["status"] == "completed"


@pytest.mark.timeout(120)
def test_s35_a_kill_without_a_freeze_holds_no_task_back(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, BRAIN_STALL_SECONDS="5") as sidecar:
        models = sidecar.script("slow", [{"text": "done", "delayMs": 3_000}])
        task_id = sidecar.execute("x", models=models, intent="chat")
        for _ in range(3):
            wait_until(lambda: sidecar.task(task_id)["status"] == "running", what="the task")
            sidecar.kill()
            sidecar.start()
        assert sidecar.wait_for_end(task_id, seconds=60)["status"] == "completed"
