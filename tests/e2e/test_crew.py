"""Crews with the real process: parts as tasks in their own worktrees, merged and verified together."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.support import PROJECT, RunningSidecar
from tests.support.crew import CREW, SUITE, children, git, make_repository
from tests.support.fleet import running_fleet
from tests.support.servers import Postgres


@pytest.fixture
def crew(sidecar: RunningSidecar) -> RunningSidecar:
    make_repository(sidecar.workspace)
    return sidecar


def start(sidecar: RunningSidecar, script: object = CREW, **options: object) -> str:
    models = sidecar.script("crew", script)
    chosen = {"crew": True, "isolation": "worktree", "approvals": "auto", "verify": [SUITE], **options}
    return sidecar.execute("Greet whoever the store holds.", models=models, **chosen)


@pytest.mark.timeout(240)
def test_a_crew_builds_three_parts_and_recovers_from_failed_checks_and_a_conflict(crew: RunningSidecar) -> None:
    before = git(crew.workspace, "status", "--porcelain")
    task = crew.wait_for_end(start(crew), seconds=120)
    events = crew.events(task["id"])
    assert task["status"] == "completed", (task["error"], events)
    assert task["verified"] is True
    by_id = {each["id"]: each for each in task["result"]["subtasks"]}
    assert {each["state"] for each in by_id.values()} == {"done"}
    assert by_id["store"]["verified"] is True
    assert sorted((by_id["store"]["attempts"], by_id["api"]["attempts"])) == [1, 2]
    assert "conflict" in str([event for event in events if event["type"] == "retry"])
    assert git(crew.workspace, "status", "--porcelain") == before
    found = children(crew, task["id"])
    assert len(found) == 4
    assert not [path for each in by_id.values() for path in each["files"] if "__pycache__" in path]
    assert all("worktree" not in child for child in found)
    plan = [event for event in events if event["type"] == "plan"][-1]["items"]
    assert {item["taskId"] for item in plan} <= {child["id"] for child in found}
    merged = crew.post(f"/api/brain/tasks/{task['id']}/merge", {}).json
    assert merged["merged"], merged
    assert (crew.workspace / "store.py").read_text().endswith("'Ada'\n")
    assert (crew.workspace / "test_all.py").exists()


@pytest.mark.timeout(240)
def test_f01_killed_while_it_plans_works_and_merges_a_crew_goes_on_and_starts_no_part_twice(
    crew: RunningSidecar,
) -> None:
    task_id = start(crew)
    moments = [
        lambda event: event["type"] == "plan",
        lambda event: event["type"] == "plan" and any(item.get("taskId") for item in event["items"]),
        lambda event: event["type"] == "tool" and event["tool"] == "merge_part" and event["status"] == "running",
        lambda event: event["type"] == "retry",
    ]
    for moment in moments:
        crew.wait_for_event(task_id, moment)
        crew.kill()
        crew.start()
    task = crew.wait_for_end(task_id)
    assert task["status"] == "completed", task["error"]
    assert task["verified"] is True
    attempts = sum(part["attempts"] for part in task["result"]["subtasks"])
    assert len(children(crew, task_id)) == attempts
    assert [event["seq"] for event in crew.events(task_id)] == list(range(1, task["lastSeq"] + 1))


@pytest.mark.timeout(240)
def test_brain_crew_shows_who_works_on_what_and_how_to_take_it_over(crew: RunningSidecar) -> None:
    crew.script("crew", CREW)
    argv = [sys.executable, "-m", "sidecar", "crew", "Greet whoever the store holds.", "--approvals", "auto"]
    argv += ["--model", "scripted/crew", "--verify", SUITE, "--data-dir", str(crew.data_dir)]
    environ = {**crew.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        argv, cwd=crew.workspace, env=environ, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr
    assert "→ Build the api (backend) is t_" in done.stdout
    assert "3 parts are done and merged." in done.stdout
    assert "brain merge t_" in done.stdout


@pytest.mark.timeout(300)
def test_the_parts_of_a_crew_run_on_several_workers_of_a_fleet(postgres: Postgres, tmp_path: Path) -> None:
    with running_fleet(tmp_path, postgres.new_database()) as fleet:
        make_repository(fleet.workspace)
        node = fleet.node()
        for _ in range(3):
            fleet.worker("--slots", "2")
        task = node.wait_for_end(start(node), seconds=240)
        assert (task["status"], task["verified"]) == ("completed", True), (task, node.events(task["id"])[-5:])
        attempts = sum(part["attempts"] for part in task["result"]["subtasks"])
        assert len(children(node, task["id"])) == attempts
        merged = node.post(f"/api/brain/tasks/{task['id']}/merge", {}).json
        assert merged["merged"], merged
        assert (fleet.workspace / "test_all.py").exists()
