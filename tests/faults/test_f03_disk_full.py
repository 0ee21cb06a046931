"""F3: the disk is full: the task pauses and says why, reading works, and it goes on when there is space again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.support import running_sidecar, wait_until
from tests.faults.programs import needs

MOUNT = 'mount -t tmpfs -o size=1m,mode=700 tmpfs "$1" && shift && exec "$@"'


def fill(directory: Path) -> Path:
    filler = directory / "filler"
    with filler.open("wb", buffering=0) as stream:
        for size in (4096, 1):
            try:
                while True:
                    stream.write(b"x" * size)
            except OSError:
                continue
    return filler


@needs("unshare")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_f03_a_full_disk_pauses_the_task_and_space_lets_it_go_on(tmp_path: Path) -> None:
    data_dir = tmp_path / "small-disk"
    data_dir.mkdir()
    can_mount = subprocess.run(["unshare", "-m", "sh", "-c", MOUNT, "sh", str(data_dir), "true"], capture_output=True)
    if can_mount.returncode != 0:
        pytest.skip("mounting is not allowed here")
    on_small_disk = ("unshare", "-m", "sh", "-c", MOUNT, "sh", str(data_dir), sys.executable, "-m", "sidecar")
    ask = {"calls": [{"tool": "run_command", "args": {"command": "echo done > out.txt"}}]}
    scripts = tmp_path / "scripts"
    with running_sidecar(tmp_path, BRAIN_SCRIPTS=str(scripts)) as first:
        models = first.script("ask", [ask, {"text": "x" * 2_000}])
        scripts.mkdir(exist_ok=True)
        (first.data_dir / "scripts" / "ask.json").rename(scripts / "ask.json")
    with running_sidecar(tmp_path, BRAIN_SCRIPTS=str(scripts), data_dir=tmp_path / "unused") as sidecar:
        sidecar.close()
        sidecar.launcher, sidecar.data_dir = on_small_disk, data_dir
        sidecar.start()
        inside = Path(f"/proc/{sidecar.pid}/root{data_dir}")
        token = (inside / "token").read_text()
        sidecar.ready["tokenFile"] = str(tmp_path / "token")
        (tmp_path / "token").write_text(token)

        task_id = sidecar.execute("x", models=models, intent="run_command", agentType="terminal")
        approval = sidecar.wait_for_event(task_id, lambda event: event["type"] == "approval")
        filler = fill(inside)
        answer = sidecar.post(
            f"/api/brain/tasks/{task_id}/approvals/{approval['approvalId']}", {"decision": "allow", "scope": "once"}
        )
        if answer.status == 200:
            wait_until(lambda: sidecar.get("/api/brain/status").json["journal"]["state"] == "stalled", what="the stall")
        else:
            assert (answer.status, answer.json["code"]) == (503, "journal_stalled")
            assert answer.headers["retry-after"]
        status = sidecar.get("/api/brain/status").json["journal"]
        assert "full" in status["message"]
        refused = sidecar.post("/api/brain/execute", {"task": "list the files"})
        assert (refused.status, refused.json["code"]) == (503, "journal_stalled")
        assert sidecar.task(task_id)["lastSeq"] >= 1, "what was written can be read"

        filler.unlink()
        wait_until(lambda: sidecar.get("/api/brain/status").json["journal"]["state"] == "ok", what="the journal")
        sidecar.post(
            f"/api/brain/tasks/{task_id}/approvals/{approval['approvalId']}", {"decision": "allow", "scope": "once"}
        )
        assert sidecar.wait_for_end(task_id)["status"] == "completed"
        assert (sidecar.workspace / "out.txt").read_text() == "done\n"
