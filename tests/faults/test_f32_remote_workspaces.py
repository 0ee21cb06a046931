"""F1, F32: a task on a Git remote is killed at each step: it is done once, and the branch has one commit."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.support import Json, RunningSidecar, clean_environ
from tests.faults.scale import FULL, scaled
from tests.support.fleet import running_fleet
from tests.support.remotes import ServedProject, Trigger, check_result, git, served_project, start_edits
from tests.support.servers import Postgres

Event = Callable[[Json], bool]
AT_EVENTS: dict[str, Event] = {
    "cloned": lambda event: event["type"] == "branch",
    "edited": lambda event: event["type"] == "diff",
    "command": lambda event: (
        event["type"] == "tool" and event["tool"] == "run_command" and event["status"] == "running"
    ),
}
AT_REQUESTS = ("upload-pack", "receive-pack", "pushed")
MOMENTS = scaled(("edited", "receive-pack", "pushed"), (*AT_EVENTS, *AT_REQUESTS))


@pytest.mark.parametrize("moment", MOMENTS)
def test_f01_a_killed_sidecar_goes_on_in_a_new_clone(tmp_path: Path, moment: str) -> None:
    (tmp_path / "workspace").mkdir()
    with served_project(tmp_path) as project:
        environ = clean_environ(tmp_path, **project.settings)
        sidecar = RunningSidecar(tmp_path / "data", tmp_path / "workspace", (), environ).start()
        trigger = Trigger(project, moment)
        try:
            if moment in AT_EVENTS:
                task_id = start_edits(sidecar, project.url, slow=0.5)
                sidecar.wait_for_event(task_id, AT_EVENTS[moment])
                sidecar.kill()
            else:
                trigger.pid = sidecar.pid
                task_id = start_edits(sidecar, project.url)
                assert sidecar.process is not None
                sidecar.process.wait(120)
            sidecar.restart()
            task = sidecar.wait_for_end(task_id)
            check_result(project, task)
            _check_command(project, task)
        finally:
            sidecar.close()


def test_f01_a_rewind_that_is_killed_at_its_push_is_pushed_once(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    with served_project(tmp_path) as project:
        environ = clean_environ(tmp_path, **project.settings)
        sidecar = RunningSidecar(tmp_path / "data", tmp_path / "workspace", (), environ).start()
        trigger = Trigger(project, "pushed")
        try:
            task_id = start_edits(sidecar, project.url)
            branch = sidecar.wait_for_end(task_id)["resultBranch"]
            trigger.pid = sidecar.pid
            with pytest.raises(OSError):
                sidecar.post(f"/api/brain/tasks/{task_id}/rewind", {"seq": 0})
            sidecar.restart()
            assert project.commits(branch) == ["Rewind to event 0", "Said hi"]
            more = [{"text": "d", "calls": [{"tool": "write_file", "args": {"path": "d.txt", "content": "d\n"}}]}]
            sidecar.script("remote", [*more, {"text": "Added d"}])
            assert sidecar.post(f"/api/brain/tasks/{task_id}/messages", {"text": "add d instead"}).status == 202
            task = sidecar.wait_for_end(task_id)
            assert task["status"] == "completed", task
            assert project.commits(branch) == ["Added d", "Rewind to event 0", "Said hi"]
        finally:
            sidecar.close()


def _check_command(project: ServedProject, task: Json) -> None:
    """The command ran once, or it was cut short: then its files went with the clone, and it was not repeated."""
    names = git(project.bare, "ls-tree", "-r", "--name-only", task["resultBranch"]).splitlines()
    assert "log.txt" not in names or project.file(task["resultBranch"], "log.txt") == "once"


@pytest.mark.skipif(not FULL, reason="waits for the lease of each killed worker; `make faults` runs it")
@pytest.mark.parametrize("moment", [*AT_EVENTS, *AT_REQUESTS])
def test_f32_a_worker_elsewhere_goes_on(postgres: Postgres, tmp_path: Path, moment: str) -> None:
    with (
        served_project(tmp_path) as project,
        running_fleet(tmp_path, postgres.new_database(), **project.settings) as fleet,
    ):
        node, first = fleet.node(), fleet.worker(data="one")
        trigger = Trigger(project, moment)
        trigger.pid = first.pid if moment in AT_REQUESTS else 0
        task_id = start_edits(node, project.url, slow=1)
        if moment in AT_EVENTS:
            node.wait_for_event(task_id, AT_EVENTS[moment])
            first.kill()
        fleet.worker(data="two")
        task = node.wait_for_end(task_id, seconds=120)
        check_result(project, task)
        _check_command(project, task)
