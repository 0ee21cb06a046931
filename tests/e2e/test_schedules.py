"""Schedules with the real process: what is due starts at once, once, and also after a kill."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.support import PROJECT, RunningSidecar, running_sidecar
from tests.waiting import SECONDS, wait_until


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, (0, 0))


def tasks(sidecar: RunningSidecar) -> list[str]:
    return [task["id"] for task in sidecar.get("/api/brain/tasks").json["tasks"]]


@pytest.mark.timeout(120)
def test_a_due_schedule_starts_one_task_and_a_repository_has_no_schedules(tmp_path: Path) -> None:
    text = f"---\nevery: 4w\nworkspace: {tmp_path}/workspace\napprovals: readonly\n---\nlist the files\n"
    write(tmp_path / "config" / "rainy-brain" / "schedules" / "look.md", text)
    write(tmp_path / "workspace" / ".brain" / "schedules" / "planted.md", text)
    with running_sidecar(tmp_path) as sidecar:
        sidecar.post("/api/brain/trust", {"workspace": str(sidecar.workspace), "trusted": True})
        wait_until(lambda: tasks(sidecar), what="the scheduled task")
        (task_id,) = tasks(sidecar)
        assert sidecar.wait_for_end(task_id)["status"] == "completed"
        sidecar.kill()
        sidecar.start()
        found = sidecar.get("/api/brain/schedules").json
        assert [each["name"] for each in found["schedules"]] == ["look"]
        assert found["active"] is True
        assert (found["schedules"][0]["lastTask"], found["schedules"][0]["lastStatus"]) == (task_id, "completed")
        assert tasks(sidecar) == [task_id]
        argv = [sys.executable, "-m", "sidecar", "schedules", "--data-dir", str(sidecar.data_dir)]
        environ = {**sidecar.environ, "PYTHONPATH": str(PROJECT)}
        shown = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, env=environ, check=True).stdout
        assert "every 4w" in shown
        assert "next 20" in shown
