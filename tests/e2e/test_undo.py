"""Taking back what commands did, and forking, with the real process: over HTTP, in the terminal, and when killed."""

import json
import subprocess
import sys
import threading
from contextlib import suppress
from http.client import HTTPException
from typing import Any

import pytest

from tests.e2e.support import PROJECT, RunningSidecar
from tests.e2e.terminal import brain, brain_output
from tests.faults.scale import scaled
from tests.waiting import SECONDS, wait_until

Json = dict[str, Any]


def command(text: str) -> Json:
    return {"calls": [{"tool": "run_command", "args": {"command": text}}]}


def worked(sidecar: RunningSidecar, *replies: Json, name: str = "work") -> str:
    models = sidecar.script(name, [*replies, {"text": "done"}])
    task_id = sidecar.execute(
        "x", models=models, intent="edit_code", agentType="coder", approvals="auto", verify="off", maxIterations=50
    )
    task = sidecar.wait_for_end(task_id)
    assert task["status"] == "completed", task
    return task_id


def test_what_a_command_changed_is_reported_shown_and_rewound(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "a.txt").write_text("one\ntwo\n")
    task_id = worked(sidecar, command("echo three >> a.txt; chmod 755 a.txt; echo new > new.txt"))
    (told,) = [event for event in sidecar.events(task_id) if event["type"] == "diff"]
    assert {(file["path"], file["change"], file["added"]) for file in told["files"]} == {
        ("a.txt", "modified", 1),
        ("new.txt", "created", 1),
    }
    assert sidecar.task(task_id)["result"]["filesModified"] == ["a.txt", "new.txt"]
    files = {file["path"]: file for file in sidecar.get(f"/api/brain/tasks/{task_id}/diff").json["files"]}
    assert "+three" in files["a.txt"]["diff"] and "to 755" in files["a.txt"]["note"]
    patch = brain_output(sidecar, "diff", task_id)
    apply = ["git", "apply", "--reverse", "--check", "-"]
    subprocess.run(apply, input=patch, text=True, check=True, cwd=sidecar.workspace, timeout=SECONDS)
    assert "2 files would change" in brain_output(sidecar, "rewind", task_id, "0", "--files", "--preview")
    brain_output(sidecar, "rewind", task_id, "0", "--files")
    assert (sidecar.workspace / "a.txt").read_text() == "one\ntwo\n"
    assert (sidecar.workspace / "a.txt").stat().st_mode & 0o777 == 0o644
    assert not (sidecar.workspace / "new.txt").exists()
    assert sidecar.task(task_id)["status"] == "completed"


def test_parts_are_accepted_and_rejected_on_the_command_line(sidecar: RunningSidecar) -> None:
    task_id = worked(sidecar, command("echo a > a.txt; echo b > b.txt"))
    assert "b.txt" not in brain_output(sidecar, "diff", task_id, "--reject", "b.txt", "--accept", "a.txt")
    assert not (sidecar.workspace / "b.txt").exists()
    (file,) = sidecar.get(f"/api/brain/tasks/{task_id}/diff").json["files"]
    assert [hunk["state"] for hunk in file["hunks"]] == ["accepted"]
    assert "undone" in brain_output(sidecar, "diff", task_id, "--reject", "all")
    assert not (sidecar.workspace / "a.txt").exists()


def undo(sidecar: RunningSidecar, *words: str, leaves: bool = False) -> str:
    argv = [sys.executable, "-m", "sidecar", "undo", *words, "--data-dir", str(sidecar.data_dir)]
    environ = {**sidecar.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, cwd=sidecar.workspace, env=environ)
    assert done.returncode == (1 if leaves else 0), done.stderr
    return done.stdout


def test_undo_takes_back_the_newest_task_here_and_names_what_it_leaves(sidecar: RunningSidecar) -> None:
    for name in ("a.txt", "b.txt"):
        (sidecar.workspace / name).write_text("before\n")
    task_id = worked(sidecar, command("echo after > a.txt; echo after > b.txt; echo new > c.txt"))
    (sidecar.workspace / "b.txt").write_text("yours\n")
    assert "2 files would change, 1 would be left alone." in undo(sidecar, "--preview")
    said = undo(sidecar, leaves=True)
    assert "to its start, but for what was left alone." in said
    assert "left alone  b.txt  Left as it is: you or another task changed the same place since." in said
    assert "2 files changed, 1 left alone." in said and f"Rewound task {task_id[:8]}" in said
    assert (sidecar.workspace / "a.txt").read_text() == "before\n"
    assert (sidecar.workspace / "b.txt").read_text() == "yours\n"
    assert not (sidecar.workspace / "c.txt").exists()
    (sidecar.workspace / "b.txt").write_text("after\n")
    answer = json.loads(undo(sidecar, task_id, "--json"))
    assert answer == {"seq": 0, "files": [{"path": "b.txt", "change": "modified"}], "conflicts": [], "notRestored": []}


def test_undo_of_the_last_change_goes_one_change_back_each_time(sidecar: RunningSidecar) -> None:
    worked(sidecar, command("echo one > a.txt"), command("echo two > a.txt"), command("true"))
    undo(sidecar, "--last-change")
    assert (sidecar.workspace / "a.txt").read_text() == "one\n"
    undo(sidecar, "--last-change")
    assert not (sidecar.workspace / "a.txt").exists()


def in_words(sidecar: RunningSidecar, words: str, **options: object) -> Json:
    return sidecar.wait_for_end(sidecar.execute(words, **options))


def test_undo_in_words_goes_one_change_back_each_time_and_says_what_it_did(sidecar: RunningSidecar) -> None:
    first = worked(sidecar, command("echo one > a.txt"), command("echo two > a.txt"))
    done = in_words(sidecar, "undo the last change")
    assert (done["status"], done["verified"], done["pipeline"]) == ("completed", None, [])
    assert done["result"]["summary"].startswith(
        f"Undid the last change of task {first[:10]} (“x”):\n- restored `a.txt`"
    )
    assert done["result"]["filesModified"] == ["a.txt"]
    assert (sidecar.workspace / "a.txt").read_text() == "one\n"
    said = [event["text"] for event in sidecar.events(done["id"]) if event["type"] == "message"]
    assert said == ["undo the last change", done["result"]["summary"]]
    models = sidecar.script("never", [{"text": "A model was asked."}])
    assert (
        "- deleted `a.txt`"
        in in_words(sidecar, "Mach die letzte Änderung rückgängig", models=models)["result"]["summary"]
    )
    assert not (sidecar.workspace / "a.txt").exists()
    failed = in_words(sidecar, "deshaz el último cambio")
    assert (failed["status"], failed["error"]["code"]) == ("failed", "nothing_to_undo")


def test_undo_in_words_names_what_it_leaves_and_asks_where_edits_ask(sidecar: RunningSidecar) -> None:
    for name in ("a.txt", "b.txt"):
        (sidecar.workspace / name).write_text("before\n")
    worked(sidecar, command("echo after > a.txt; echo after > b.txt"))
    (sidecar.workspace / "b.txt").write_text("yours\n")
    refused = in_words(sidecar, "undo the last change", approvals="readonly")
    assert refused["error"]["code"] == "read_only" and "`a.txt`" in refused["error"]["message"]
    asking = sidecar.execute("undo the last change", approvals="edits")
    sidecar.wait_for_status(asking, "waiting")
    (asked,) = [event for event in sidecar.events(asking) if event["type"] == "question"]
    assert (sidecar.workspace / "a.txt").read_text() == "after\n" and asked["choices"] == ["Undo it", "Leave it"]
    sidecar.post(f"/api/brain/tasks/{asking}/questions/{asked['questionId']}", {"answer": "Undo it"})
    summary = sidecar.wait_for_end(asking)["result"]["summary"]
    assert "- restored `a.txt`\n\nNot undone:\n- `b.txt`: Left as it is: you or another task changed" in summary
    assert (sidecar.workspace / "a.txt").read_text() == "before\n"
    assert (sidecar.workspace / "b.txt").read_text() == "yours\n"


def test_a_follow_up_undoes_the_changes_of_its_own_task_one_by_one(sidecar: RunningSidecar) -> None:
    task_id = worked(sidecar, command("echo one > a.txt"), command("echo two > a.txt"))
    for left in ("one\n", None):
        sidecar.post(f"/api/brain/tasks/{task_id}/messages", {"text": "undo that"})
        done = sidecar.wait_for_end(task_id)
        assert done["status"] == "completed" and "Undid the last change" in done["result"]["summary"], done
        file = sidecar.workspace / "a.txt"
        assert (file.read_text() if file.exists() else None) == left


def test_undo_and_diff_of_a_task_without_changes_name_the_newest_with_some(sidecar: RunningSidecar) -> None:
    task_id = worked(sidecar, command("echo one > a.txt"))
    worked(sidecar, name="answer")
    said = undo(sidecar)
    assert "No files changed." in said and f"changed files: brain undo {task_id[:10]}" in said
    assert (sidecar.workspace / "a.txt").exists()
    done = brain("diff", "--data-dir", str(sidecar.data_dir), environ=sidecar.environ, cwd=sidecar.workspace)
    assert f"The newest that did: brain diff {task_id[:10]}" in done.stderr


def test_undo_elsewhere_touches_nothing(sidecar: RunningSidecar) -> None:
    worked(sidecar, command("echo one > a.txt"))
    argv = [sys.executable, "-m", "sidecar", "undo", "--data-dir", str(sidecar.data_dir)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, cwd=PROJECT, env=sidecar.environ)
    assert done.returncode == 1 and f"No task worked in {PROJECT}" in done.stderr
    assert (sidecar.workspace / "a.txt").exists()


def test_a_fork_over_http_is_one_task_however_often_it_is_sent(sidecar: RunningSidecar) -> None:
    task_id = worked(sidecar, command("echo one > a.txt"))
    other = sidecar.script("other", [{"text": "done otherwise"}])
    wanted = {"seq": 0, "task": "another way", "options": {"models": other}}
    headers = {"Idempotency-Key": "k1"}
    answers = [sidecar.post(f"/api/brain/tasks/{task_id}/fork", wanted, headers=headers) for _ in range(2)]
    assert [answer.status for answer in answers] == [202, 202]
    (forked,) = {answer.json["taskId"] for answer in answers}
    task = sidecar.wait_for_end(forked)
    assert (task["task"], task["status"]) == ("another way", "completed")
    assert task["forkedFrom"] == {"taskId": task_id, "seq": 0}
    assert not (sidecar.workspace / "a.txt").exists()


def test_a_fork_on_the_command_line_is_watched_to_its_end(sidecar: RunningSidecar) -> None:
    task_id = worked(sidecar, command("echo one > a.txt"))
    sidecar.script("other", [{}, {}, {"text": "done otherwise"}])
    words = ("fork", task_id, "--model", "scripted/other", "--keep-files", "try again")
    argv = [sys.executable, "-m", "sidecar", *words, "--data-dir", str(sidecar.data_dir)]
    result = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, cwd=PROJECT, env=sidecar.environ)
    assert result.returncode == 0, result.stderr
    assert "done otherwise" in result.stdout + result.stderr
    assert (sidecar.workspace / "a.txt").exists()


def test_what_a_command_did_before_a_kill_is_known_after_it_and_can_be_undone(sidecar: RunningSidecar) -> None:
    file = sidecar.workspace / "a.txt"
    file.write_text("one\n")
    models = sidecar.script("cut", [command("echo two > a.txt; echo new > b.txt; sleep 1000"), {"text": "done"}])
    task_id = sidecar.execute("x", models=models, intent="edit_code", agentType="coder", approvals="auto", verify="off")
    wait_until((sidecar.workspace / "b.txt").exists)
    sidecar.kill()
    sidecar.restart()
    assert sidecar.wait_for_end(task_id)["status"] == "completed"
    (unknown,) = [event for event in sidecar.events(task_id) if event.get("status") == "unknown"]
    assert {each["path"] for each in unknown["details"]["files"]} == {"a.txt", "b.txt"}
    answer = sidecar.post(f"/api/brain/tasks/{task_id}/rewind", {"seq": 0})
    assert {(each["path"], each["change"]) for each in answer.json["files"]} == {
        ("a.txt", "modified"),
        ("b.txt", "deleted"),
    }
    assert file.read_text() == "one\n"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("files_alone", [False, True])
def test_a_sidecar_killed_in_the_middle_of_a_rewind_finishes_it_once(
    sidecar: RunningSidecar, files_alone: bool
) -> None:
    """Each time it is killed when another one of the files has just gone back."""
    names = [f"f{number}.txt" for number in range(60)]
    for name in names:
        (sidecar.workspace / name).write_text("before\n")
    task_id = worked(sidecar, command("for f in f*.txt; do echo after > $f; done"))
    end = sidecar.task(task_id)["lastSeq"]
    for attempt in range(scaled(4, 60)):
        goal, content = (0, "before\n") if attempt % 2 == 0 else (end, "after\n")
        body = {"seq": goal, "conversation": not files_alone}
        asking = threading.Thread(target=_ask, args=(sidecar, f"/api/brain/tasks/{task_id}/rewind", body))
        asking.start()
        one = sidecar.workspace / names[attempt * 23 % 60]
        wait_until(lambda one=one, content=content: one.read_text() == content, pause=0)
        sidecar.kill()
        asking.join()
        sidecar.restart()
        assert {(sidecar.workspace / name).read_text() for name in names} == {content}, "it was left half done"
    assert not list(sidecar.workspace.glob(".*brain-tmp"))
    told = [event for event in sidecar.events(task_id) if event["type"] == "diff"]
    assert len(told) == 1 + scaled(4, 60)
    assert all(len(event["files"]) == 60 for event in told)


def _ask(sidecar: RunningSidecar, path: str, body: Json) -> None:
    with suppress(OSError, HTTPException):  # it is killed before it can answer
        sidecar.post(path, body)
