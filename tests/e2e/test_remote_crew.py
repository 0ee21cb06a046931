"""A crew on a Git remote: parts are branches that any worker makes, and the result is one branch of the remote."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import PROJECT, Json, RunningSidecar, clean_environ
from tests.support.crew import (
    CREW,
    SUITE,
    check_crew_branch,
    children,
    make_remote,
    part,
    propose,
    start_on_remote,
    write,
)
from tests.support.fleet import running_fleet
from tests.support.remotes import ServedProject, git, served_project
from tests.support.servers import Postgres


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ServedProject]:
    with served_project(tmp_path) as served:
        make_remote(served)
        yield served


@pytest.fixture
def sidecar(tmp_path: Path, project: ServedProject) -> Iterator[RunningSidecar]:
    (tmp_path / "workspace").mkdir()
    environ = clean_environ(tmp_path, **project.settings)
    running = RunningSidecar(tmp_path / "data", tmp_path / "workspace", (), environ).start()
    yield running
    running.close()


def has_parts(event: Json) -> bool:
    return event["type"] == "plan" and any(item.get("taskId") for item in event["items"])


@pytest.mark.timeout(240)
def test_a_crew_on_a_remote_ends_as_one_branch_with_a_merge_for_each_part(
    sidecar: RunningSidecar, project: ServedProject, tmp_path: Path
) -> None:
    """One part fails twice, and one conflicts."""
    task = sidecar.wait_for_end(start_on_remote(sidecar, project), seconds=180)
    check_crew_branch(project, task)
    assert git(project.bare, "rev-parse", "trunk") == git(project.work, "rev-parse", "HEAD")
    found = children(sidecar, task["id"])
    assert len(found) == sum(part["attempts"] for part in task["result"]["subtasks"]) == 4
    assert {child["workspace"] for child in found} == {project.url}
    files = {each["path"] for each in sidecar.get(f"/api/brain/tasks/{task['id']}/diff").json["files"]}
    assert {"api.py", "store.py", "notes.txt", "test_all.py"} <= files
    assert not list((tmp_path / "data/clones").iterdir())
    # The parts are in the history of the branch, although their own branches are gone.
    authors = git(project.bare, "log", "--format=%b", f"trunk..{task['resultBranch']}")
    merged = {part["taskId"] for part in task["result"]["subtasks"]}
    assert all(f"Brain-Task: {name}" in authors for name in merged)


@pytest.mark.timeout(300)
def test_the_parts_of_a_crew_on_a_remote_run_on_workers_that_share_only_the_database(
    postgres: Postgres, project: ServedProject, tmp_path: Path
) -> None:
    with running_fleet(tmp_path, postgres.new_database(), **project.settings) as fleet:
        node = fleet.node()
        for name in ("one", "two"):
            fleet.worker("--slots", "2", data=name)
        task = node.wait_for_end(start_on_remote(node, project), seconds=240)
        check_crew_branch(project, task)


@pytest.mark.timeout(240)
def test_a_remote_that_moves_and_a_branch_of_others_lose_nothing(
    sidecar: RunningSidecar, project: ServedProject
) -> None:
    """Trunk moves while the parts work, and somebody pushes to the crew's own branch before it does."""
    slow = {"calls": [{"tool": "run_command", "args": {"command": "sleep 1"}}]}
    script = {
        **CREW,
        "strategist": [propose(part("one", "backend", ["one.txt"], []), part("two", "qa", ["two.txt"], [], ["one"]))],
        "backend": [write("one.txt", "one\n"), slow, {"text": "done"}],
        "qa": [write("two.txt", "two\n"), {"text": "done"}],
    }
    task_id = start_on_remote(sidecar, project, script)
    sidecar.wait_for_event(task_id, has_parts)
    project.work.joinpath("later.txt").write_text("later\n")
    project.push("Later")
    project.work.joinpath("theirs.txt").write_text("theirs\n")
    project.push("Theirs", f"brain/{task_id}")
    task = sidecar.wait_for_end(task_id)
    # The second part needs the first one, which can't be pushed.
    assert (task["status"], task["error"]["code"]) == ("failed", "not_pushed"), task
    assert project.commits(f"brain/{task_id}") == ["Theirs"]
    assert [each["path"] for each in sidecar.get(f"/api/brain/tasks/{task_id}/diff").json["files"]] == ["one.txt"]

    git(project.bare, "branch", "-m", f"brain/{task_id}", "theirs")
    assert sidecar.post(f"/api/brain/tasks/{task_id}/resume", {}).status == 202
    task = sidecar.wait_for_end(task_id)
    assert task["status"] == "completed", task
    merges = git(project.bare, "log", "--first-parent", "--format=%s", f"trunk..{task['resultBranch']}").splitlines()
    assert merges == ["Merge: Build the two", "Merge: Build the one"]
    # It began with the commit that the crew found first.
    assert "later.txt" not in git(project.bare, "ls-tree", "--name-only", task["resultBranch"])
    assert git(project.bare, "log", "-1", "--format=%s", "theirs") == "Theirs"
    assert [child["status"] for child in children(sidecar, task_id)] == ["completed", "completed"]


@pytest.mark.timeout(240)
def test_a_part_whose_branch_others_took_is_tried_again_on_another(
    sidecar: RunningSidecar, project: ServedProject
) -> None:
    slow = {"calls": [{"tool": "run_command", "args": {"command": "sleep 1"}}]}
    script = {
        **CREW,
        "strategist": [propose(part("one", "backend", ["one.txt"], []))],
        "backend": [write("one.txt", "one\n"), slow, {"text": "done"}] * 2,
    }
    task_id = start_on_remote(sidecar, project, script)
    sidecar.wait_for_event(task_id, has_parts)
    (first,) = children(sidecar, task_id)
    project.work.joinpath("theirs.txt").write_text("theirs\n")
    project.push("Theirs", f"brain/{first['id']}")
    task = sidecar.wait_for_end(task_id)
    assert task["status"] == "completed", task
    assert task["result"]["subtasks"][0]["attempts"] == 2
    assert project.file(task["resultBranch"], "one.txt") == "one"
    assert project.commits(f"brain/{first['id']}") == ["Theirs"]


@pytest.mark.timeout(240)
def test_steps_of_a_plan_run_at_the_same_time_on_a_remote(sidecar: RunningSidecar, project: ServedProject) -> None:
    """Each writes all that is missing, so that it doesn't matter who does what."""
    steps = [
        {"id": "1", "title": "Write a", "files": ["a.txt"]},
        {"id": "2", "title": "Write b", "files": ["b.txt"]},
        {"id": "3", "title": "Write c", "files": ["c.txt"], "after": ["1"]},
    ]
    command = "for each in a b c; do test -f $each.txt || echo $each > $each.txt; done"
    work = [{"calls": [{"tool": "run_command", "args": {"command": command}}]}, {"text": "done"}]
    script = {"planner": [{"text": json.dumps({"steps": steps})}], "coder": work, "reviewer": [{"text": "fine"}]}
    check = "test -f a.txt -a -f b.txt -a -f c.txt"
    options: Json = {"crew": None, "workers": 2, "intent": "refactor_code", "review": "never", "verify": [check]}
    task = sidecar.wait_for_end(start_on_remote(sidecar, project, script, **options), seconds=180)
    assert (task["status"], task["verified"]) == ("completed", True), task
    assert len(children(sidecar, task["id"])) == 3
    changed = git(project.bare, "diff", "--name-only", "trunk", task["resultBranch"]).splitlines()
    assert changed == ["a.txt", "b.txt", "c.txt"]


@pytest.mark.timeout(240)
def test_brain_crew_works_on_a_remote(sidecar: RunningSidecar, project: ServedProject) -> None:
    sidecar.script("crew", CREW)
    argv = [sys.executable, "-m", "sidecar", "crew", "Greet.", "--approvals", "auto", "--remote", project.url]
    argv += ["--model", "scripted/crew", "--verify", SUITE, "--data-dir", str(sidecar.data_dir)]
    environ = {**sidecar.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        argv, cwd=sidecar.workspace, env=environ, capture_output=True, text=True, timeout=180, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr
    assert "3 parts are done and merged." in done.stdout and "brain/t_" in done.stdout, done.stdout
