"""Isolated tasks with the real process: a worktree of their own, merged into the workspace or discarded."""

import subprocess
import sys
import threading
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support import PROJECT, RunningSidecar
from tests.waiting import SECONDS, wait_until

Json = dict[str, Any]
TEN = "".join(f"line {number}\n" for number in range(10))


@pytest.fixture
def repository(sidecar: RunningSidecar) -> Path:
    place = sidecar.workspace
    git(place, "init", "-q", "-b", "main")
    (place / "a.txt").write_text(TEN)
    (place / "b.txt").write_text("committed\n")
    (place / ".gitignore").write_text("ignored.txt\n")
    git(place, "add", ".")
    git(place, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "first")
    (place / "b.txt").write_text("uncommitted\n")
    (place / "staged.txt").write_text("staged\n")
    git(place, "add", "staged.txt")
    (place / "untracked.txt").write_text("untracked\n")
    return place


def git(place: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=place, check=True, capture_output=True, text=True, timeout=SECONDS)
    return done.stdout


def git_state(place: Path) -> list[str]:
    """Index, branches, stash, HEAD and status of the repository."""
    asked = [["ls-files", "-s"], ["for-each-ref"], ["stash", "list"], ["rev-parse", "HEAD"], ["reflog"]]
    return [git(place, *words) for words in asked]


def edit(path: str, old: str, new: str) -> Json:
    return {"calls": [{"tool": "edit_file", "args": {"path": path, "oldText": old, "newText": new}}]}


def command(text: str) -> Json:
    return {"calls": [{"tool": "run_command", "args": {"command": text}}]}


def start(sidecar: RunningSidecar, *replies: Json, name: str = "work", **options: Any) -> str:
    models = sidecar.script(name, [*replies, {"text": "done"}])
    chosen = {"intent": "edit_code", "agentType": "coder", "approvals": "auto", "verify": "off", **options}
    return sidecar.execute("x", models=models, isolation="worktree", **chosen)


def worked(sidecar: RunningSidecar, *replies: Json, name: str = "work", **options: Any) -> Json:
    task = sidecar.wait_for_end(start(sidecar, *replies, name=name, **options))
    assert task["status"] == "completed", task
    return task


def brain(sidecar: RunningSidecar, *words: str) -> tuple[int, str]:
    argv = [sys.executable, "-m", "sidecar", *words, "--data-dir", str(sidecar.data_dir)]
    environ = {**sidecar.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, cwd=sidecar.workspace, env=environ)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def merge(sidecar: RunningSidecar, task: Json, **wanted: Any) -> Json:
    answer = sidecar.post(f"/api/brain/tasks/{task['id']}/merge", wanted)
    assert answer.status == 200, answer.body
    found: Json = answer.json
    return found


def test_an_isolated_task_starts_with_uncommitted_changes_and_touches_nothing_of_yours_until_merged(
    sidecar: RunningSidecar, repository: Path
) -> None:
    before, seen = git_state(repository), git(repository, "status", "--porcelain")
    task = worked(
        sidecar,
        command("cat b.txt staged.txt untracked.txt > copied.txt"),
        edit("a.txt", "line 2\n", "line two\n"),
        {"calls": [{"tool": "delete_file", "args": {"path": "untracked.txt"}}]},
        {"calls": [{"tool": "write_file", "args": {"path": "ignored.txt", "content": "wanted\n"}}]},
    )
    assert task["workspace"] == str(repository)
    assert task["worktree"].startswith(str(sidecar.data_dir)) and task["id"] in task["worktree"]
    assert (repository / "a.txt").read_text() == TEN and (repository / "untracked.txt").exists()
    assert git_state(repository) == before and git(repository, "status", "--porcelain") == seen
    diff = sidecar.get(f"/api/brain/tasks/{task['id']}/diff").json["files"]
    assert {file["path"] for file in diff} == {"a.txt", "copied.txt", "untracked.txt", "ignored.txt"}
    # You go on meanwhile, in the same file.
    (repository / "a.txt").write_text(TEN.replace("line 8\n", "line eight\n"))
    preview = merge(sidecar, task, preview=True)
    assert not preview["merged"] and (repository / "untracked.txt").exists()
    answer = merge(sidecar, task)
    assert answer["merged"] and answer["combined"] and not answer["conflicts"]
    assert answer["files"] == preview["files"]
    assert (repository / "a.txt").read_text() == TEN.replace("line 8", "line eight").replace("line 2\n", "line two\n")
    assert (repository / "copied.txt").read_text() == "uncommitted\nstaged\nuntracked\n"
    assert (repository / "ignored.txt").read_text() == "wanted\n"
    assert not (repository / "untracked.txt").exists() and (repository / "b.txt").read_text() == "uncommitted\n"
    assert git_state(repository) == before
    assert not Path(task["worktree"]).exists() and not (repository / ".git/worktrees").exists()
    assert "worktree" not in sidecar.task(task["id"])
    assert sidecar.post(f"/api/brain/tasks/{task['id']}/merge", {}).json["code"] == "no_worktree"
    # An undo now acts on the workspace, and keeps your line.
    assert brain(sidecar, "undo", task["id"])[0] == 0
    assert (repository / "a.txt").read_text() == TEN.replace("line 8\n", "line eight\n")
    assert (repository / "untracked.txt").read_text() == "untracked\n" and not (repository / "copied.txt").exists()


def test_two_isolated_tasks_never_see_each_other_and_merge_one_after_the_other(
    sidecar: RunningSidecar, repository: Path
) -> None:
    first = worked(sidecar, edit("a.txt", "line 1\n", "one\n"), command("ls > seen.txt"), name="first")
    second = worked(sidecar, edit("a.txt", "line 9\n", "nine\n"), command("ls > other.txt"), name="second")
    assert "seen.txt" not in (Path(second["worktree"]) / "other.txt").read_text()
    listed = sidecar.get("/api/brain/worktrees").json["worktrees"]
    assert [(each["state"], each["files"]) for each in listed] == [("unmerged", 2), ("unmerged", 2)]
    assert merge(sidecar, first)["merged"] and merge(sidecar, second)["merged"]
    assert (repository / "a.txt").read_text() == TEN.replace("line 1\n", "one\n").replace("line 9\n", "nine\n")


def test_a_conflict_is_shown_and_nothing_is_merged_unless_you_want_markers(
    sidecar: RunningSidecar, repository: Path
) -> None:
    task = worked(sidecar, edit("a.txt", "line 5\n", "theirs\n"), command("echo new > new.txt"))
    (repository / "a.txt").write_text(TEN.replace("line 5\n", "mine\n"))
    code, said = brain(sidecar, "merge", task["id"], "--preview")
    assert code == 0 and "A merge would change nothing because of the conflicts." in said
    code, said = brain(sidecar, "merge", task["id"], "--markers", "--preview")
    assert code == 0 and "A merge would change 2 files." in said
    code, said = brain(sidecar, "merge", task["id"])
    assert code == 1 and "conflict  a.txt" in said and "mine" in said and "theirs" in said
    assert "Nothing was merged" in said and not (repository / "new.txt").exists()
    assert (repository / "a.txt").read_text() == TEN.replace("line 5\n", "mine\n")
    code, said = brain(sidecar, "merge", task["id"], "--markers")
    assert code == 0 and "Merged 2 files" in said
    marked = f"<<<<<<< workspace\nmine\n=======\ntheirs\n>>>>>>> task {task['id']}\n"
    assert (repository / "a.txt").read_text() == TEN.replace("line 5\n", marked)


def test_a_merge_without_changes_says_so_and_combines_nothing(sidecar: RunningSidecar, repository: Path) -> None:
    task = worked(sidecar, edit("a.txt", "line 5\n", "theirs\n"))
    assert brain(sidecar, "undo", task["id"])[0] == 0
    (repository / "a.txt").write_text("mine\n")
    code, said = brain(sidecar, "merge", task["id"])
    assert code == 0 and said.startswith("There was nothing to merge") and "Run your tests" not in said
    assert (repository / "a.txt").read_text() == "mine\n"


def test_clean_keeps_changes_until_you_discard_them_and_the_task_learns_of_it(
    sidecar: RunningSidecar, repository: Path
) -> None:
    unchanged = worked(sidecar, command("true"), name="unchanged")
    task = worked(sidecar, edit("a.txt", "line 5\n", "theirs\n"), name="changed")
    code, said = brain(sidecar, "worktrees", "clean")
    assert code == 0 and f"Removed the worktree of {unchanged['id'][:8]}" in said and "Kept the worktree" in said
    code, said = brain(sidecar, "worktrees")
    assert task["id"][:8] in said and "unmerged (1 file)" in said and unchanged["id"][:8] not in said
    code, said = brain(sidecar, "worktrees", "clean", "--discard", task["id"][:10])
    assert code == 0 and "Removed" in said
    assert not Path(task["worktree"]).exists() and (repository / "a.txt").read_text() == TEN
    assert not sidecar.get(f"/api/brain/tasks/{task['id']}/diff").json["files"]
    # Continued, it gets a new worktree, of the workspace as it is now.
    (repository / "b.txt").write_text("later\n")
    sidecar.script("changed", [command("cat b.txt > copied.txt"), {"text": "done again"}])
    sidecar.post(f"/api/brain/tasks/{task['id']}/messages", {"text": "run `cat b.txt > copied.txt`"})
    again = sidecar.wait_for_end(task["id"])
    assert again["status"] == "completed" and again["worktree"] == task["worktree"]


def test_without_a_repository_or_commit_an_isolated_task_says_what_to_do(sidecar: RunningSidecar) -> None:
    refused = sidecar.post("/api/brain/execute", {"task": "x", "options": {"isolation": "worktree"}})
    assert refused.status == 422 and refused.json["code"] == "no_repository" and "git init" in refused.body.decode()
    git(sidecar.workspace, "init", "-q")
    failed = sidecar.wait_for_end(start(sidecar, command("touch made")))
    assert failed["error"]["code"] == "no_worktree" and "Commit first" in failed["error"]["message"]
    assert not (sidecar.workspace / "made").exists()


def test_a_killed_sidecar_goes_on_in_the_same_worktree(sidecar: RunningSidecar, repository: Path) -> None:
    replies = [
        edit("a.txt", "line 1\n", "one\n"),
        command("while [ ! -e go ]; do sleep 0.05; done"),
        command("touch x"),
    ]
    task_id = start(sidecar, *replies)
    wait_until(lambda: "worktree" in sidecar.task(task_id))
    place = sidecar.task(task_id)["worktree"]
    wait_until(lambda: "one\n" in (Path(place) / "a.txt").read_text())
    sidecar.kill()
    (Path(place) / "go").touch()
    sidecar.restart()
    task = sidecar.wait_for_end(task_id)
    assert task["status"] == "completed" and task["worktree"] == place
    events = [event for event in sidecar.events(task_id) if event["type"] == "worktree"]
    assert len(events) == 1
    assert (Path(place) / "a.txt").read_text().count("one\n") == 1 and (repository / "a.txt").read_text() == TEN
    assert merge(sidecar, task)["merged"]


def test_a_sidecar_killed_in_the_middle_of_a_merge_finishes_it(sidecar: RunningSidecar, repository: Path) -> None:
    names = [f"f{number}.txt" for number in range(40)]
    task = worked(sidecar, command("for n in $(seq 0 39); do echo new > f$n.txt; done"))
    asking = threading.Thread(target=_ask, args=(sidecar, f"/api/brain/tasks/{task['id']}/merge"))
    asking.start()
    wait_until((repository / names[7]).exists)
    sidecar.kill()
    asking.join()
    sidecar.restart()
    assert {(repository / name).read_text() for name in names} == {"new\n"}, "it was left half done"
    assert "worktree" not in sidecar.task(task["id"]) and not list(repository.glob(".*brain-tmp"))
    (left,) = sidecar.get("/api/brain/worktrees").json["worktrees"] or [{"state": "leftover"}]
    assert left["state"] == "leftover"
    brain(sidecar, "worktrees", "clean")
    assert not sidecar.get("/api/brain/worktrees").json["worktrees"] and not (repository / ".git/worktrees").exists()


def _ask(sidecar: RunningSidecar, path: str) -> None:
    with suppress(OSError, HTTPException):  # it is killed before it can answer
        sidecar.post(path, {})


def test_the_commands_of_a_task_see_no_other_worktree_and_none_of_the_sidecars_files(
    sidecar: RunningSidecar, repository: Path
) -> None:
    other = worked(sidecar, command("echo secret > secret.txt"), name="other")
    data = sidecar.data_dir
    secret = f"{other['worktree']}/secret.txt"
    look = f"ls {data} {data}/worktrees > seen.txt 2>&1; cat {data}/token {secret} >> seen.txt 2>&1; true"
    task = worked(sidecar, command(look), name="curious")
    seen = (Path(task["worktree"]) / "seen.txt").read_text()
    assert "secret\n" not in seen and (data / "token").read_text().strip() not in seen
    assert "journal.db" not in seen and other["id"] not in seen.replace(secret, "")
    # Nor can a client make the sidecar's own files a workspace.
    refused = sidecar.post("/api/brain/execute", {"task": "x", "context": {"workspace": str(data / "worktrees")}})
    assert refused.status == 422 and refused.json["code"] == "workspace_private"


def test_trust_and_installed_packages_of_the_repository_hold_in_its_worktrees(
    sidecar: RunningSidecar, repository: Path
) -> None:
    (repository / ".gitignore").write_text(".venv/\nnode_modules/\n.brain/\n")
    packages = repository / ".venv/lib/python3/site-packages"
    packages.mkdir(parents=True)
    (repository / ".venv/bin").mkdir()
    (repository / ".venv/bin/python").symlink_to(sys.executable)
    (repository / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    (repository / "node_modules/.bin").mkdir(parents=True)
    program = repository / "node_modules/.bin/hello"
    program.write_text("#!/bin/sh\necho from node_modules\n")
    program.chmod(0o755)
    (repository / ".brain").mkdir()
    (repository / ".brain/rules.md").write_text("Be kind.\n")
    assert sidecar.post("/api/brain/trust", {"workspace": str(repository), "trusted": True}).status == 200
    look = "hello > out.txt; echo $PYTHONPATH >> out.txt; touch node_modules/.bin/x; git status --short >> out.txt"
    task = worked(sidecar, command(look))
    said = (Path(task["worktree"]) / "out.txt").read_text()
    assert said.startswith("from node_modules\n") and task["worktree"] in said and ".venv" not in said
    assert not (repository / "node_modules/.bin/x").exists()
    answer = merge(sidecar, task)
    assert [file["path"] for file in answer["files"]] == ["out.txt"]


def test_merging_a_file_that_can_be_executed_leaves_the_rest_of_your_modes(
    sidecar: RunningSidecar, repository: Path
) -> None:
    (repository / "a.txt").chmod(0o600)
    (repository / "run.sh").write_text("one\n")
    (repository / "run.sh").chmod(0o750)
    git(repository, "add", "run.sh")
    task = start(sidecar, command("chmod +x a.txt; chmod -x run.sh; echo more >> b.txt; install -m 755 a.txt new.sh"))
    sidecar.wait_for_end(task)
    (repository / "b.txt").chmod(0o640)
    assert sidecar.post(f"/api/brain/tasks/{task}/merge", {}).status == 200
    modes = {name: (repository / name).stat().st_mode & 0o777 for name in ("a.txt", "run.sh", "b.txt", "new.sh")}
    assert modes == {"a.txt": 0o700, "run.sh": 0o640, "b.txt": 0o640, "new.sh": 0o755}
    assert (repository / "b.txt").read_text() == "uncommitted\nmore\n"


def test_a_merge_writes_no_protected_file_through_a_link_of_yours(sidecar: RunningSidecar, repository: Path) -> None:
    (repository / "hooks").symlink_to(".git/hooks")
    (repository / ".git/info/exclude").write_text("/hooks\n")
    task = worked(sidecar, {"calls": [{"tool": "create_file", "args": {"path": "hooks/pre-push", "content": "evil"}}]})
    (repository / ".git/info/exclude").unlink()
    answer = merge(sidecar, task)
    assert not answer["merged"] and [each["path"] for each in answer["conflicts"]] == ["hooks/pre-push"]
    assert "leads to .git/hooks/pre-push" in answer["conflicts"][0]["why"]
    assert not (repository / ".git/hooks/pre-push").exists()
