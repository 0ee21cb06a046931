"""F3: the disk is full: the task pauses and says why, reading works, and it goes on when there is space again."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.contract.servers.http import Answer, Server, a_server, sliced
from tests.contract.servers.speech import Call, Speech
from tests.contract.servers.stage import SPEAKERS
from tests.e2e.support import PROJECT, Json, RunningSidecar, clean_environ, running_sidecar
from tests.e2e.terminal import program
from tests.faults.programs import needs
from tests.waiting import SECONDS, wait_until

MOUNT = 'mount -t tmpfs -o size="$1",mode=700 tmpfs "$2" && shift 2 && exec "$@"'
TURNS = 100
SPEAKER = SPEAKERS[0]
MODEL = f"{SPEAKER.provider}/{SPEAKER.model}"

pytestmark = [needs("unshare"), pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")]


def fill(directory: Path, name: str = "filler") -> Path:
    filler = directory / name
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
    tmp_path: Path, replies: Sequence[Json] = (), size: str = "1m", **environ: str
) -> Iterator[tuple[RunningSidecar, Path, Json]]:
    """A sidecar with a disk of its own, where that is seen from here, and the models that play the replies."""
    data_dir, scripts = tmp_path / "small-disk", tmp_path / "scripts"
    data_dir.mkdir()
    scripts.mkdir()
    mounted = ("unshare", "-m", "sh", "-c", MOUNT, "sh", size, str(data_dir))
    if subprocess.run([*mounted, "true"], capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    (scripts / "play.json").write_text(json.dumps(replies))
    with running_sidecar(tmp_path, data_dir=tmp_path / "unused", BRAIN_SCRIPTS=str(scripts), **environ) as sidecar:
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


def start_reading(sidecar: RunningSidecar, model: str) -> str:
    """A task that only reads: it needs nobody's word, and nothing that it does has an effect."""
    models = dict.fromkeys(("fast", "smart", "instant"), model)
    task_id = sidecar.execute(
        "look", models=models, intent="edit_code", agentType="coder", maxIterations=TURNS + 1, verify="off"
    )
    sidecar.wait_for_event(task_id, lambda event: event["type"] == "tool")
    return task_id


@contextmanager
def a_reading_model(tmp_path: Path) -> Iterator[tuple[Server, RunningSidecar, Path]]:
    """A model that looks for another file in each of its turns, and a sidecar on a small disk that knows it."""
    looks = [Call("find_files", json.dumps({"pattern": f"{turn}*"})) for turn in range(TURNS)]
    speeches = [Speech(text=f"turn {turn}", calls=(look,)) for turn, look in enumerate(looks)]
    with a_server() as server:
        server.plays(
            *(Answer(sliced(SPEAKER.stream(each), 200), pause=0.01) for each in [*speeches, Speech(text="done")])
        )
        environ = {SPEAKER.key: "k", SPEAKER.base_url: server.url + SPEAKER.prefix()}
        with on_a_small_disk(tmp_path, size="8m", **environ) as (sidecar, disk, _):
            yield server, sidecar, disk


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
        assert sidecar.get("/ready", authenticated=False).status == 200
        filler = fill(disk)
        not_ready = sidecar.get("/ready", authenticated=False)
        assert (not_ready.status, not_ready.json["code"]) == (503, "not_ready")
        assert sidecar.get("/health", authenticated=False).status == 200
        refused = sidecar.post("/api/brain/execute", {"task": "list the files"})
        assert (refused.status, refused.json["code"]) == (503, "journal_stalled")
        end = time.monotonic() + 1
        while time.monotonic() < end:
            assert state_of(sidecar) == "stalled"
        assert "written again" not in sidecar.log_file.read_text()
        filler.unlink()
        wait_until(lambda: state_of(sidecar) == "ok", what="the journal")
        assert sidecar.get("/ready", authenticated=False).status == 200
        assert sidecar.post("/api/brain/execute", {"task": "list the files"}).status == 202


def test_f03_a_task_that_only_reads_pauses_too_and_then_has_everything_once(tmp_path: Path) -> None:
    """Else it would go on asking its model for replies that are lost if there is never space again."""
    with a_reading_model(tmp_path) as (server, sidecar, disk):
        asked = threading.Event()
        server.on_request = lambda _: asked.set()
        task_id = start_reading(sidecar, MODEL)
        filler = fill(disk)
        wait_until(lambda: state_of(sidecar) == "stalled", what="the stall")
        while asked.wait(2):
            asked.clear()
        assert len(server.seen) < TURNS / 2
        assert state_of(sidecar) == "stalled"

        filler.unlink()
        assert sidecar.wait_for_end(task_id)["status"] == "completed"
        assert len(server.seen) == TURNS + 1
        events = sidecar.events(task_id)
        assert [event["seq"] for event in events] == [*range(1, len(events) + 1)]
        said = [event["text"] for event in events if event["type"] == "message" and event["role"] == "assistant"]
        assert said == [*(f"turn {turn}" for turn in range(TURNS)), "done"]


def test_f03_who_watches_a_task_is_told_why_nothing_comes(tmp_path: Path) -> None:
    with a_reading_model(tmp_path) as (_, sidecar, disk):
        task_id = start_reading(sidecar, MODEL)
        filler = fill(disk)
        wait_until(lambda: state_of(sidecar) == "stalled", what="a full disk")
        with program("show", "--follow", task_id, "--data-dir", str(disk), environ=sidecar.environ) as watching:
            assert watching.stdout is not None
            told = next((line for line in watching.stdout if "disk of the data directory is full" in line), "")
            assert "continue by themselves once there is space" in told
            filler.unlink()
            assert watching.wait(SECONDS) == 0


def test_f03_a_sidecar_whose_disk_is_full_can_be_stopped(tmp_path: Path) -> None:
    with a_reading_model(tmp_path) as (_, sidecar, disk):
        task_id = start_reading(sidecar, MODEL)
        fill(disk)
        wait_until(lambda: state_of(sidecar) == "stalled", what="the stall")
        assert sidecar.stop() == 0
        assert f"Task {task_id} stopped" in sidecar.log_file.read_text()


def test_f03_a_sidecar_that_starts_on_a_full_disk_reads_and_works_again_when_there_is_space(tmp_path: Path) -> None:
    data_dir = tmp_path / "small-disk"
    data_dir.mkdir()
    holder = subprocess.Popen(["unshare", "-m", "sh", "-c", MOUNT, "sh", "8m", str(data_dir), "sleep", "600"])
    inside = Path(f"/proc/{holder.pid}/root{data_dir}")

    def start(sidecar: RunningSidecar) -> None:
        sidecar.start()
        (tmp_path / "token").write_text((inside / "token").read_text())
        sidecar.ready["tokenFile"] = str(tmp_path / "token")

    try:
        wait_until(lambda: holder.poll() is not None or os.path.ismount(inside), what="the disk")
        if holder.poll() is not None:
            pytest.skip("mounting is not allowed here")
        with running_sidecar(tmp_path, data_dir=tmp_path / "unused") as sidecar:
            sidecar.close()
            entered = ("nsenter", f"--target={holder.pid}", "--mount", f"--wd={PROJECT}")
            sidecar.launcher, sidecar.data_dir = (*entered, sys.executable, "-m", "sidecar"), data_dir
            start(sidecar)
            task_id = sidecar.execute("list the files")
            assert sidecar.wait_for_end(task_id)["status"] == "completed"
            wait_until((inside / "reserve").exists, what="the reserve")
            sidecar.stop()
            filler = fill(inside)
            start(sidecar)
            assert "is full. Tasks can be read" in sidecar.log_file.read_text()
            assert sidecar.task(task_id)["status"] == "completed"
            fill(inside, "more")
            refused = sidecar.post("/api/brain/execute", {"task": "list the files"})
            assert (refused.status, refused.json["code"]) == (503, "journal_stalled")
            assert [task["id"] for task in sidecar.get("/api/brain/tasks").json["tasks"]] == [task_id]
            filler.unlink()
            wait_until(lambda: state_of(sidecar) == "ok", what="the journal")
            assert sidecar.wait_for_end(sidecar.execute("list the files"))["status"] == "completed"
    finally:
        holder.kill()
        holder.wait()


def test_f03_a_start_on_a_full_disk_says_so_and_what_to_do(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    serve = [sys.executable, "-m", "sidecar", "serve", "--port", "0", "--data-dir", str(disk / "data")]
    full = f'{MOUNT.partition("&&")[0]} && head -c 2m /dev/zero > "$2/filler"; shift 2; exec "$@"'
    argv = ["unshare", "-m", "sh", "-c", full, "sh", "1m", str(disk), *serve]
    started = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, cwd=PROJECT)
    if "mount:" in started.stderr:
        pytest.skip("mounting is not allowed here")
    assert (started.returncode, started.stdout) == (4, ""), started.stderr
    assert f"the disk of its data directory {disk / 'data'} is full" in started.stderr
    assert "Free some space there" in started.stderr and "Traceback" not in started.stderr


def test_f03_commands_that_start_a_sidecar_on_a_full_disk_say_so_too(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    both = '"$@" run "list the files" --data-dir "$0/data"; "$@" doctor --data-dir "$0/data"; ls -A "$0/data"'
    full = f'{MOUNT.partition("&&")[0]} && head -c 2m /dev/zero > "$2/filler"; shift; exec sh -c \'{both}\' "$@"'
    argv = ["unshare", "-m", "sh", "-c", full, "sh", "1m", str(disk), sys.executable, "-m", "sidecar"]
    environ = clean_environ(tmp_path)
    said = subprocess.run(argv, capture_output=True, text=True, timeout=2 * SECONDS, cwd=PROJECT, env=environ)
    if "mount:" in said.stderr:
        pytest.skip("mounting is not allowed here")
    assert f"didn't start: the disk of its data directory {disk / 'data'} is full" in said.stderr, said
    assert f"the disk of {disk / 'data'} is full" in said.stdout and "Everything works" not in said.stdout
    assert ".token" not in said.stdout, "a file that could not be written stays"


def test_f03_people_get_in_while_the_disk_is_full_and_hear_what_is_not_saved(tmp_path: Path) -> None:
    with on_a_small_disk(tmp_path) as (sidecar, disk, _):
        fill(disk)
        code = sidecar.post("/api/brain/session/code").json["code"]
        assert sidecar.post("/api/brain/session", {"code": code}, authenticated=False).status == 200
        refused = sidecar.post("/api/brain/trust", {"workspace": str(sidecar.workspace), "trusted": True})
        assert (refused.status, refused.json["code"]) == (503, "disk_full")
        assert "Traceback" not in sidecar.log_file.read_text()


OPENED_ON_A_FULL_DISK = """
import sqlite3, sys
from pathlib import Path
from sidecar.memory.store import open_or_replace
from tests.faults.test_f03_disk_full import fill

path = Path(sys.argv[1]) / "index.db"
open_or_replace(path).close()
before = path.read_bytes()
fill(path.parent)
try:
    open_or_replace(path).close()
except sqlite3.OperationalError as error:
    print(error)
assert path.read_bytes() == before
"""


def test_f03_an_index_is_kept_while_the_disk_is_full(tmp_path: Path) -> None:
    argv = ["unshare", "-m", "sh", "-c", MOUNT, "sh", "1m", str(tmp_path), sys.executable, "-c", OPENED_ON_A_FULL_DISK]
    opened = subprocess.run([*argv, str(tmp_path)], capture_output=True, text=True, timeout=SECONDS, cwd=PROJECT)
    if "mount:" in opened.stderr:
        pytest.skip("mounting is not allowed here")
    assert opened.returncode == 0, opened.stderr
