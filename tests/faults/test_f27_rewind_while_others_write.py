"""F27: rewinds while the user, another task and commands write: only that task's bytes go back, all else is named."""

import itertools
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.e2e.support import Json, RunningSidecar, running_sidecar
from tests.faults.scale import scaled
from tests.faults.workload import check_integrity
from tests.waiting import wait_until
from tools.local.attribution.trace import attribution_problem

pytestmark = pytest.mark.skipif(bool(attribution_problem()), reason=f"not here: {attribution_problem()}")


@pytest.fixture(params=["bubblewrap", "landlock"])
def sidecar(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunningSidecar]:
    environ: dict[str, str] = {}
    if request.param == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if request.param == "landlock":
        # With a bubblewrap that doesn't work, the sidecar takes the other sandbox.
        broken = tmp_path / "bin" / "bwrap"
        broken.parent.mkdir()
        broken.write_text("#!/bin/sh\nexit 1\n")
        broken.chmod(0o755)
        environ["PATH"] = f"{broken.parent}:{os.environ['PATH']}"
    with running_sidecar(tmp_path, **environ) as running:
        yield running


def command(text: str) -> Json:
    return {"calls": [{"tool": "run_command", "args": {"command": text}}]}


def begin(sidecar: RunningSidecar, name: str, *replies: Json) -> str:
    models = sidecar.script(name, [*replies, {"text": "done"}])
    return sidecar.execute(
        "x", models=models, intent="edit_code", agentType="coder", approvals="auto", verify="off", maxIterations=50
    )


def rewind(sidecar: RunningSidecar, task_id: str, seq: int = 0) -> Json:
    answer = sidecar.post(f"/api/brain/tasks/{task_id}/rewind", {"seq": seq})
    assert answer.status == 200, answer.body
    found: Json = answer.json
    assert found.keys() == {"seq", "files", "conflicts", "notRestored"}
    return found


def test_f27_what_you_and_another_task_write_during_a_command_stays(sidecar: RunningSidecar) -> None:
    place = sidecar.workspace
    for name in ("README.md", "other.txt", "mine.txt"):
        (place / name).write_text("before\n")
    line = "echo task > mine.txt; mkdir -p d; echo task > d/new.txt; touch up; while [ ! -e go ]; do sleep 0.01; done"
    first = begin(sidecar, "first", command(f"{line}; echo late > late.txt; rm -f go up"))
    wait_until((place / "up").exists)
    (place / "README.md").write_text("saved by you\n")
    (place / "d/yours.txt").write_text("made by you\n")
    write = {"tool": "write_file", "args": {"path": "other.txt", "content": "by another task\n"}}
    assert sidecar.wait_for_end(begin(sidecar, "second", {"calls": [write]}, command("echo two > two.txt")))
    (place / "go").write_text("")
    assert sidecar.wait_for_end(first)["status"] == "completed"
    answer = rewind(sidecar, first)
    # You made `go` and the command removed it, so it comes back.
    restored = {(file["path"], file["change"]) for file in answer["files"] if file["path"] != "go"}
    assert restored == {("mine.txt", "modified"), ("d/new.txt", "deleted"), ("late.txt", "deleted")}
    assert not answer["conflicts"] and not answer["notRestored"]
    left = {
        name: (place / name).read_text() for name in ("README.md", "other.txt", "mine.txt", "two.txt", "d/yours.txt")
    }
    assert left == {
        "README.md": "saved by you\n",
        "other.txt": "by another task\n",
        "mine.txt": "before\n",
        "two.txt": "two\n",
        "d/yours.txt": "made by you\n",
    }


def test_f27_what_is_written_while_it_rewinds_is_not_lost(sidecar: RunningSidecar) -> None:
    count = scaled(80, 2_000)
    place = sidecar.workspace
    for number in range(count):
        (place / f"f{number}").write_text("before\n")
    first = begin(sidecar, "first", command("for f in f*; do echo after > $f; done"))
    assert sidecar.wait_for_end(first)["status"] == "completed"
    second = begin(sidecar, "second", command("touch up; n=0; while [ ! -e go ]; do n=$((n+1)); echo $n > other; done"))
    wait_until((place / "up").exists)
    answers: list[Json] = []
    rewinding = threading.Thread(target=lambda: answers.append(rewind(sidecar, first)))
    rewinding.start()
    saved: set[str] = set()
    chance = random.Random(1)
    while rewinding.is_alive():
        name = f"f{chance.randrange(count)}"
        with (place / name).open("a") as file:
            file.write("yours\n")
        saved.add(name)
        rewinding.join(0.002)
    rewinding.join()
    (place / "go").write_text("")
    assert sidecar.wait_for_end(second)["status"] == "completed"
    assert int((place / "other").read_text()) > 0
    (answer,) = answers
    named = {file["path"] for file in (*answer["files"], *answer["conflicts"])}
    assert named == {f"f{number}" for number in range(count)} and not answer["notRestored"]
    left = {file["path"] for file in answer["conflicts"]}
    for number in range(count):
        text = (place / f"f{number}").read_text()
        if f"f{number}" in saved:
            assert "yours\n" in text, f"your line in f{number} is lost"
        elif f"f{number}" not in left:
            assert text == "before\n"


def test_f27_a_rewind_that_failed_half_way_can_be_repeated(sidecar: RunningSidecar) -> None:
    place = sidecar.workspace
    for name in ("a", "b", "c"):
        (place / name).write_text("before\n")
    task_id = begin(sidecar, "work", command("for f in a b c; do echo after > $f; done"))
    assert sidecar.wait_for_end(task_id)["status"] == "completed"
    if subprocess.run(["chattr", "+i", str(place / "b")], capture_output=True, check=False).returncode:
        pytest.skip("files can't be made immutable here")
    try:
        first = rewind(sidecar, task_id)
    finally:
        subprocess.run(["chattr", "-i", str(place / "b")], check=True)
    assert [file["path"] for file in first["notRestored"]] == ["b"]
    assert "rewind again" in first["notRestored"][0]["why"]
    sidecar.restart()
    assert rewind(sidecar, task_id)["files"] == [{"path": "b", "change": "modified"}]
    assert {(place / name).read_text() for name in ("a", "b", "c")} == {"before\n"}


KILLS = scaled(6, 213)


@pytest.mark.timeout(3_600)
def test_f27_killed_during_commands_and_rewinds_nothing_of_others_is_touched(tmp_path: Path) -> None:
    """A command that counts, a person who saves, a rewind; killed at any moment of them."""
    chance = random.Random(random.randrange(10**9))
    with running_sidecar(tmp_path) as sidecar:
        place = sidecar.workspace
        (place / "yours.txt").write_text("0\n")
        line = "for i in 1 2 3 4 5 6; do echo $i > t$i.txt; echo $i >> log.txt; sleep 0.01; done"
        last: dict[str, int] = {}
        for number in range(KILLS):
            for file in place.glob("*.txt"):
                if file.name != "yours.txt":
                    file.unlink()
            task_id = begin(sidecar, "work", command(line), command("echo end > end.txt"))
            for save in itertools.count():
                (place / "yours.txt").write_text(f"{number}.{save}\n")
                if sidecar.task(task_id)["status"] not in ("queued", "running") or chance.random() < 0.2:
                    break
            rewinding = None
            if sidecar.task(task_id)["status"] == "completed":
                rewinding = threading.Thread(target=_ask, args=(sidecar, task_id))
                rewinding.start()
                rewinding.join(chance.uniform(0, 0.15))
            sidecar.kill()
            if rewinding is not None:
                rewinding.join()
            saved = (place / "yours.txt").read_text()
            sidecar.start()
            assert sidecar.wait_for_end(task_id)["status"] in ("completed", "cancelled")
            written = (place / "log.txt").read_text().split() if (place / "log.txt").exists() else []
            assert len(written) == len(set(written)), "the command ran twice"
            events = sidecar.events(task_id)
            assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
            assert len(events) >= last.get(task_id, 0)
            answer = rewind(sidecar, task_id)
            named = {file["path"] for file in (*answer["conflicts"], *answer["notRestored"])}
            assert (place / "yours.txt").read_text() == saved and "yours.txt" not in named
            remains = {file.name for file in place.glob("*.txt")} - {"yours.txt"}
            assert remains <= named, (remains, answer)
        assert not list(place.glob(".*brain-tmp"))
        sidecar.stop()
        check_integrity(sidecar.data_dir / "journal.db")


def _ask(sidecar: RunningSidecar, task_id: str) -> None:
    with suppress(OSError, HTTPException, AssertionError):  # it is killed before it can answer
        rewind(sidecar, task_id)


def test_f27_a_task_that_is_cancelled_is_undone_and_your_files_stay(sidecar: RunningSidecar) -> None:
    place = sidecar.workspace
    program = "import time, pathlib\nfor n in range(10**6):\n    pathlib.Path(f'f{n % 50}').write_text(str(n))\n"
    (place / "flood.py").write_text(program)
    task_id = begin(sidecar, "work", command(f"{sys.executable} -S -E flood.py"))
    wait_until((place / "f20").exists)
    (place / "yours").write_text("yours\n")
    sidecar.post(f"/api/brain/tasks/{task_id}/cancel")
    assert sidecar.wait_for_end(task_id)["status"] == "cancelled"
    answer = rewind(sidecar, task_id)
    assert not answer["conflicts"] and not answer["notRestored"], answer
    assert {file.name for file in place.iterdir()} == {"flood.py", "yours"}
