"""F1, F32: a crew on a Git remote is killed at its pushes and merges: it goes on, and nothing is merged twice."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.e2e.support import Json, RunningSidecar, clean_environ
from tests.faults.scale import FULL, scaled
from tests.support.crew import check_crew_branch, children, make_remote, start_on_remote
from tests.support.fleet import running_fleet
from tests.support.remotes import Trigger, served_project
from tests.support.servers import Postgres

#: The push before or after which it is killed; parts push, the crew pushes after each merge, and deletes branches.
PUSHES = [(moment, number) for moment in ("receive-pack", "pushed") for number in range(1, 9)]
SOME_PUSHES = [("receive-pack", 2), ("pushed", 1), ("pushed", 2), ("pushed", 5)]
EVENTS: Sequence[Callable[[Json], bool]] = (
    lambda event: event["type"] == "plan",
    lambda event: event["type"] == "tool" and event["tool"] == "merge_part" and event["status"] == "running",
    lambda event: event["type"] == "retry",
    lambda event: event["type"] == "branch" and event["state"] == "pushed",
)


def check_end(node: RunningSidecar, task: Json) -> None:
    attempts = sum(part["attempts"] for part in task["result"]["subtasks"])
    assert len(children(node, task["id"])) == attempts
    assert [event["seq"] for event in node.events(task["id"])] == list(range(1, task["lastSeq"] + 1))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("moment", "number"), scaled(SOME_PUSHES, PUSHES))
def test_f01_killed_at_a_push_a_crew_on_a_remote_goes_on(tmp_path: Path, moment: str, number: int) -> None:
    (tmp_path / "workspace").mkdir()
    with served_project(tmp_path) as project:
        make_remote(project)
        environ = clean_environ(tmp_path, **project.settings)
        sidecar = RunningSidecar(tmp_path / "data", tmp_path / "workspace", (), environ).start()
        trigger = Trigger(project, moment, number)
        try:
            trigger.pid = sidecar.pid
            task_id = start_on_remote(sidecar, project)
            assert sidecar.process is not None
            sidecar.process.wait(120)
            sidecar.restart()
            task = sidecar.wait_for_end(task_id, seconds=180)
            check_crew_branch(project, task)
            check_end(sidecar, task)
        finally:
            sidecar.close()


@pytest.mark.timeout(300)
def test_f01_killed_while_it_plans_merges_and_tries_again_a_crew_on_a_remote_goes_on(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    with served_project(tmp_path) as project:
        make_remote(project)
        environ = clean_environ(tmp_path, **project.settings)
        sidecar = RunningSidecar(tmp_path / "data", tmp_path / "workspace", (), environ).start()
        try:
            task_id = start_on_remote(sidecar, project)
            for moment in EVENTS:
                sidecar.wait_for_event(task_id, moment)
                sidecar.kill()
                sidecar.start()
            task = sidecar.wait_for_end(task_id, seconds=180)
            check_crew_branch(project, task)
            check_end(sidecar, task)
        finally:
            sidecar.close()


@pytest.mark.skipif(not FULL, reason="waits for the lease of each killed worker; `make faults` runs it")
@pytest.mark.timeout(600)
def test_f32_workers_elsewhere_go_on_with_the_crew_and_its_parts(postgres: Postgres, tmp_path: Path) -> None:
    with (
        served_project(tmp_path) as project,
        running_fleet(tmp_path, postgres.new_database(), **project.settings) as fleet,
    ):
        make_remote(project)
        node = fleet.node()
        task_id = start_on_remote(node, project)
        for number, moment in enumerate(EVENTS):
            worker = fleet.worker("--slots", "8", data=f"w{number}")
            node.wait_for_event(task_id, moment)
            worker.kill()
        fleet.worker("--slots", "8", data="last")
        task = node.wait_for_end(task_id, seconds=300)
        check_crew_branch(project, task)
        check_end(node, task)
