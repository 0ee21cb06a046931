"""F3: the disk is full: the task pauses and says why, reading works, and it goes on when there is space again."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.support import Json, RunningSidecar, running_sidecar, wait_until
from tests.faults.programs import needs

MOUNT = 'mount -t tmpfs -o size="$1",mode=700 tmpfs "$2" && shift 2 && exec "$@"'
TURNS = 100

pytestmark = [needs("unshare"), pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")]


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


@contextmanager
def on_a_small_disk(
    tmp_path: Path, replies: Sequence[Json] = (), size: str = "1m"
) -> Iterator[tuple[RunningSidecar, Path, Json]]:
    """A sidecar with a disk of its own, where that is seen from here, and the models that play the replies."""
    data_dir, scripts = tmp_path / "small-disk", tmp_path / "scripts"
    data_dir.mkdir()
    scripts.mkdir()
    mounted = ("unshare", "-m", "sh", "-c", MOUNT, "sh", size, str(data_dir))
    if subprocess.run([*mounted, "true"], capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    (scripts / "play.json").write_text(json.dumps(replies))
    with running_sidecar(tmp_path, BRAIN_SCRIPTS=str(scripts), data_dir=tmp_path / "unused") as sidecar:
        sidecar.close()
        sidecar.launcher, sidecar.data_dir = (*mounted, sys.executable, "-m", "sidecar"), data_dir
        sidecar.start()
        inside = Path(f"/proc/{sidecar.pid}/root{data_dir}")
        (tmp_path / "token").write_text((inside / "token").read_text())
        sidecar.ready["tokenFile"] = str(tmp_path / "token")
        yield sidecar, inside, dict.fromkeys(("fast", "smart", "instant"), "scripted/play")


def state_of(sidecar: RunningSidecar) -> str:
    state: str = sidecar.get("/api/brain/status").json["journal"]["state"]
    return state


def start_reading(sidecar: RunningSidecar, models: Json) -> str:
    """A task that only reads: it needs nobody's word, and nothing that it does has an effect."""
    return sidecar.execute(
        "look", models=models, intent="edit_code", agentType="coder", maxIterations=TURNS + 1, verify="off"
    )


def reading() -> list[Json]:
    looks = [{"tool": "find_files", "args": {"pattern": f"{turn}*"}} for turn in range(TURNS)]
    return [
        *({"text": f"turn {turn}", "delayMs": 50, "calls": [look]} for turn, look in enumerate(looks)),
        {"text": "done"},
    ]


def test_f03_a_full_disk_pauses_the_task_and_space_lets_it_go_on(tmp_path: Path) -> None:
    ask = {"calls": [{"tool": "run_command", "args": {"command": "echo done > out.txt"}}]}
    with on_a_small_disk(tmp_path, [ask, {"text": "x" * 2_000}]) as (sidecar, disk, models):
        task_id = sidecar.execute("x", models=models, intent="run_command", agentType="terminal")
        approval = sidecar.wait_for_event(task_id, lambda event: event["type"] == "approval")
        filler = fill(disk)
        answer = sidecar.post(
            f"/api/brain/tasks/{task_id}/approvals/{approval['approvalId']}", {"decision": "allow", "scope": "once"}
        )
        if answer.status == 200:
            wait_until(lambda: state_of(sidecar) == "stalled", what="the stall")
        else:
            assert (answer.status, answer.json["code"]) == (503, "journal_stalled")
            assert answer.headers["retry-after"]
        status = sidecar.get("/api/brain/status").json["journal"]
        assert "full" in status["message"]
        refused = sidecar.post("/api/brain/execute", {"task": "list the files"})
        assert (refused.status, refused.json["code"]) == (503, "journal_stalled")
        assert sidecar.task(task_id)["lastSeq"] >= 1, "what was written can be read"

        filler.unlink()
        wait_until(lambda: state_of(sidecar) == "ok", what="the journal")
        sidecar.post(
            f"/api/brain/tasks/{task_id}/approvals/{approval['approvalId']}", {"decision": "allow", "scope": "once"}
        )
        assert sidecar.wait_for_end(task_id)["status"] == "completed"
        assert (sidecar.workspace / "out.txt").read_text() == "done\n"


def test_f03_that_the_disk_is_full_is_said_for_as_long_as_it_is(tmp_path: Path) -> None:
    with on_a_small_disk(tmp_path) as (sidecar, disk, _):
        filler = fill(disk)
        refused = sidecar.post("/api/brain/execute", {"task": "list the files"})
        assert (refused.status, refused.json["code"]) == (503, "journal_stalled")
        end = time.monotonic() + 1
        while time.monotonic() < end:
            assert state_of(sidecar) == "stalled"
        assert "written again" not in sidecar.log_file.read_text()
        filler.unlink()
        wait_until(lambda: state_of(sidecar) == "ok", what="the journal")
        assert sidecar.post("/api/brain/execute", {"task": "list the files"}).status == 202


def test_f03_a_task_that_only_reads_pauses_too_and_then_has_everything_once(tmp_path: Path) -> None:
    """Else it would go on asking its model for replies that are lost if there is never space again."""
    with on_a_small_disk(tmp_path, reading(), "8m") as (sidecar, disk, models):
        task_id = start_reading(sidecar, models)
        sidecar.wait_for_event(task_id, lambda event: event["type"] == "tool")
        filler = fill(disk)
        wait_until(lambda: state_of(sidecar) == "stalled", what="the stall")
        asked = set()
        with sidecar.stream(task_id, timeout=2) as events, pytest.raises(TimeoutError):
            # Nothing comes any more: it has paused, or has asked for everything.
            asked.update(event["messageId"] for event in events if event["type"] == "delta")
        assert len(asked) < TURNS / 2
        assert state_of(sidecar) == "stalled"

        filler.unlink()
        assert sidecar.wait_for_end(task_id, seconds=30)["status"] == "completed"
        events = sidecar.events(task_id)
        assert [event["seq"] for event in events] == [*range(1, len(events) + 1)]
        said = [event["text"] for event in events if event["type"] == "message" and event["role"] == "assistant"]
        assert said == [*(f"turn {turn}" for turn in range(TURNS)), "done"]


def test_f03_a_sidecar_whose_disk_is_full_can_be_stopped(tmp_path: Path) -> None:
    with on_a_small_disk(tmp_path, reading(), "8m") as (sidecar, disk, models):
        task_id = start_reading(sidecar, models)
        sidecar.wait_for_event(task_id, lambda event: event["type"] == "tool")
        fill(disk)
        wait_until(lambda: state_of(sidecar) == "stalled", what="the stall")
        began = time.monotonic()
        assert sidecar.stop() == 0
        assert time.monotonic() - began < 2
        assert f"Task {task_id} stopped" in sidecar.log_file.read_text()
