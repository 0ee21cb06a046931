"""Verification through a task's whole life: killed, cancelled, continued, undone, and asked for by `brain run`."""

import json
import os
from pathlib import Path

import pytest

from tests.e2e.support import Json, RunningSidecar, clean_environ, is_alive, running_sidecar
from tests.e2e.terminal import brain
from tests.e2e.verification import (
    BUGGY,
    PASSED,
    RIGHT,
    SECONDS,
    WRONG,
    VerifiedTask,
    project,
    run_verified,
    says,
    write,
)
from tests.waiting import wait_until

#: Notes each time it begins; without the file `go` it never ends.
WAITING = """\
import os, signal
from pathlib import Path

from calc import add

HERE = Path(__file__).parent


def test_add():
    with (HERE / "begun.txt").open("a") as file:
        file.write(f"{os.getpid()}\\n")
    if not (HERE / "go").exists():
        signal.pause()
    assert add(2, 3) == 5
"""


def begun(workspace: Path) -> list[str]:
    file = workspace / "begun.txt"
    return file.read_text().split() if file.exists() else []


def test_a_sidecar_killed_in_the_middle_of_a_verification_finishes_it_once(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        project(sidecar, test_calc__py=WAITING)
        models = sidecar.script("killed", {"coder": [write("calc.py", RIGHT), says("Fixed.")], "reviewer": PASSED})
        task_id = sidecar.execute("fix add", models=models, intent="edit_code", approvals="auto")
        wait_until(lambda: begun(sidecar.workspace), seconds=SECONDS, what="the tests")
        sidecar.kill()
        (sidecar.workspace / "go").touch()
        sidecar.restart()
        story = VerifiedTask(sidecar, task_id)
        assert (story.task["status"], story.task["verified"]) == ("completed", True)
        (verification,) = story.verifications
        assert verification["passed"]
        assert [event["type"] for event in story.events].count("complete") == 1
        assert len(begun(sidecar.workspace)) == 2


def test_a_named_check_that_a_kill_cut_off_is_run_again_without_a_question(tmp_path: Path) -> None:
    check = "echo x >> begun.txt; while [ ! -e go ]; do sleep 0.01; done"
    with running_sidecar(tmp_path) as sidecar:
        project(sidecar)
        models = sidecar.script("killed", {"coder": [write("calc.py", RIGHT), says("Fixed.")], "reviewer": PASSED})
        task_id = sidecar.execute("fix add", models=models, intent="edit_code", verify=["true", check])
        wait_until(lambda: begun(sidecar.workspace), seconds=SECONDS, what="the check")
        sidecar.kill()
        (sidecar.workspace / "go").touch()
        sidecar.restart()
        story = VerifiedTask(sidecar, task_id)
        assert (story.task["status"], story.task["verified"]) == ("completed", True)
        assert len(story.verifications) == 1
        assert begun(sidecar.workspace) == ["x", "x"]
        assert not [event for event in story.events if event["type"] == "approval"]
        first = [event for event in story.events if event["type"] == "tool" and event["args"].get("command") == "true"]
        assert [event["status"] for event in first].count("success") == 1


def test_a_cancel_in_the_middle_of_a_verification_leaves_nothing_running(sidecar: RunningSidecar) -> None:
    project(sidecar)
    check = "echo $$ > begun.txt; sleep 300 & wait"
    models = sidecar.script("cancelled", {"coder": [write("calc.py", RIGHT), says("Fixed.")], "reviewer": PASSED})
    task_id = sidecar.execute("fix add", models=models, intent="edit_code", verify=[check])
    wait_until(lambda: begun(sidecar.workspace), seconds=SECONDS, what="the check")
    assert sidecar.post(f"/api/brain/tasks/{task_id}/cancel").status == 202
    story = VerifiedTask(sidecar, task_id)
    assert (story.task["status"], story.task["verified"]) == ("cancelled", None)
    assert not story.verifications
    (cancelled,) = [event for event in story.events if event["type"] == "cancelled"]
    assert any("sleep 300" in each["command"] for each in cancelled["killed"])
    assert not any(is_alive(each["pid"]) for each in cancelled["killed"])


def test_a_later_message_is_verified_if_it_changes_files_and_keeps_the_proof_if_not(sidecar: RunningSidecar) -> None:
    project(sidecar)
    story = run_verified(sidecar, [write("calc.py", RIGHT), says("Fixed.")])
    task_id = story.task["id"]
    assert story.task["verified"] is True

    def say(text: str, *coder: Json) -> VerifiedTask:
        # What was said in earlier rounds stands before what is said now.
        earlier = [says("")] * [event["type"] for event in sidecar.events(task_id)].count("complete")
        sidecar.script("story", {"coder": [*earlier, *coder], "reviewer": PASSED * 2})
        assert sidecar.post(f"/api/brain/tasks/{task_id}/messages", {"text": text}).status == 202
        return VerifiedTask(sidecar, task_id)

    asked = say("what does add do?", says("It adds."))
    assert (asked.task["verified"], len(asked.verifications)) == (True, 1)
    assert asked.task["result"]["verification"]["passed"] is True

    changed = say("make it nicer", write("calc.py", WRONG), says("Nicer."), write("calc.py", RIGHT), says("Right."))
    assert changed.task["verified"] is True
    assert [(each["passed"], each["attempt"]) for each in changed.verifications] == [(True, 1), (False, 1), (True, 2)]


def test_a_rewind_and_a_rejected_hunk_take_the_proof_back(sidecar: RunningSidecar) -> None:
    project(sidecar)
    story = run_verified(sidecar, [write("calc.py", RIGHT), says("Fixed.")])
    task_id = story.task["id"]
    (hunk,) = sidecar.get(f"/api/brain/tasks/{task_id}/diff").json["files"][0]["hunks"]
    assert sidecar.task(task_id)["verified"] is True
    assert sidecar.post(f"/api/brain/tasks/{task_id}/hunks", {"reject": [hunk["id"]]}).status == 200
    assert sidecar.task(task_id)["verified"] is None

    story = run_verified(sidecar, [write("calc.py", RIGHT), says("Fixed.")], name="second")
    assert story.task["verified"] is True
    assert sidecar.post(f"/api/brain/tasks/{story.task['id']}/rewind", {"seq": 0}).status == 200
    assert sidecar.task(story.task["id"])["verified"] is None
    assert (sidecar.workspace / "calc.py").read_text() == BUGGY


def test_the_checks_of_a_workspace_count_only_if_it_is_trusted(sidecar: RunningSidecar) -> None:
    project(sidecar)
    (sidecar.workspace / ".brain").mkdir()
    (sidecar.workspace / ".brain" / "verify.toml").write_text('commands = ["echo from the workspace; exit 7"]\n')
    story = run_verified(sidecar, [write("calc.py", RIGHT), says("Fixed.")])
    assert story.task["verified"] is True
    (sidecar.workspace / "calc.py").write_text(BUGGY)
    sidecar.post("/api/brain/trust", {"workspace": str(sidecar.workspace), "trusted": True})
    story = run_verified(sidecar, [write("calc.py", RIGHT), says("Fixed.")], name="trusted", approvals="ask")
    assert story.task["verified"] is False
    assert [(check["exitCode"], check["evidence"]) for check in story.failed] == [(7, "from the workspace")]


@pytest.mark.parametrize(
    ("coder", "options", "code", "words"),
    [
        ([write("calc.py", RIGHT), says("Fixed.")], [], 0, "Verified"),
        ([write("calc.py", WRONG), says("All tests pass.")] * 3, [], 1, "Needs you"),
        ([write("calc.py", WRONG), says("All tests pass.")], ["--verify", "off"], 0, "Completed"),
        ([write("calc.py", RIGHT), says("Fixed.")], ["--verify", "exit 4"], 1, "Needs you"),
        ([says("Nothing to do.")], [], 0, "Completed"),
    ],
)
def test_brain_run_exits_with_0_only_for_what_is_verified_or_needs_no_proof(
    tmp_path: Path, coder: list[Json], options: list[str], code: int, words: str
) -> None:
    environ = clean_environ(tmp_path, BRAIN_DATA_DIR=str(tmp_path / "data"))
    workspace, scripts = tmp_path / "workspace", tmp_path / "data" / "scripts"
    for folder in (workspace, scripts):
        folder.mkdir(parents=True)
    (workspace / "calc.py").write_text(BUGGY)
    (workspace / "test_calc.py").write_text("from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n")
    (scripts / "lie.json").write_text(json.dumps({"coder": coder, "reviewer": PASSED}))
    words_of = ["run", "fix the bug in add", "--model", "scripted/lie", "--approvals", "auto", "--intent", "edit_code"]
    try:
        done = brain(*words_of, *options, "--workspace", str(workspace), environ=environ, seconds=SECONDS)
    finally:
        brain("stop", environ=environ)
    assert done.returncode == code, done.stdout + done.stderr
    assert words in done.stdout


def test_a_user_who_is_needed_is_told_on_the_desktop(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    notify = programs / "notify-send"
    notify.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/told.new; mv {tmp_path}/told.new {tmp_path}/told\n')
    notify.chmod(0o755)
    path = os.pathsep.join((str(programs), os.environ["PATH"]))
    with running_sidecar(tmp_path, PATH=path, DISPLAY=":0") as sidecar:
        project(sidecar)
        story = run_verified(sidecar, [write("calc.py", WRONG), says("Done.")], verify=["exit 1"])
        assert story.task["status"] == "escalated"
        wait_until((tmp_path / "told").exists, seconds=SECONDS, what="the notice")
        assert "A task needs you" in (tmp_path / "told").read_text()
    (tmp_path / "told").unlink()
    with running_sidecar(tmp_path, PATH=path, DISPLAY=":0", BRAIN_NOTIFY="off", data_dir=tmp_path / "other") as sidecar:
        story = run_verified(sidecar, [write("calc.py", RIGHT), says("Done.")], verify=["exit 1"])
        assert story.task["status"] == "escalated"
    assert not (tmp_path / "told").exists()
