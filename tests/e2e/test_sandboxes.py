"""Commands of a task in containers of a real Podman: policy, changes, undo, cancel and kills as on this machine."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import RunningSidecar, running_sidecar
from tests.support.containers import IMAGE, podman
from tests.support.sandboxes import sandbox_toml
from tests.waiting import wait_until

SECRET = "canary-e4da3b7fbbce2345"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with podman(tmp_path_factory.mktemp("podman")) as socket:
        yield socket


@pytest.fixture
def sidecar(tmp_path: Path, engine: str) -> Iterator[RunningSidecar]:
    with running_sidecar(tmp_path, BRAIN_SANDBOX="container", CANARY_TOKEN=SECRET) as running:
        configure(running, socket=engine, template=IMAGE, environment={"CI": "yes"}, preinstall=["echo made > .made"])
        yield running


def configure(sidecar: RunningSidecar, **given: object) -> None:
    place = Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain"
    place.mkdir(parents=True, exist_ok=True)
    (place / "sandbox.toml").write_text(sandbox_toml(**given))


def run(sidecar: RunningSidecar, *commands: str, approvals: str = "auto") -> str:
    calls = [{"tool": "run_command", "args": {"command": command}} for command in commands]
    models = sidecar.script("s", [{"calls": [call]} for call in calls] + [{"text": "done"}])
    return sidecar.execute(
        "x", models=models, approvals=approvals, intent="run_command", agentType="terminal", verify="off"
    )


def containers(socket: str) -> list[str]:
    asked = ["curl", "-s", "--unix-socket", socket, "http://e/v1.41/containers/json?all=true"]
    found = json.loads(subprocess.run(asked, capture_output=True, check=True).stdout)
    return [each["Names"][0] for each in found]


def outcomes(sidecar: RunningSidecar, task_id: str) -> list[dict[str, object]]:
    ended = ("success", "error", "cancelled", "unknown")
    return [each for each in sidecar.events(task_id) if each["type"] == "tool" and each["status"] in ended]


def test_a_task_runs_its_commands_in_a_container_and_its_changes_can_be_undone(
    sidecar: RunningSidecar, engine: str
) -> None:
    (sidecar.workspace / "notes.txt").write_text("old\n")
    (sidecar.workspace / ".env").write_text("KEY=very-secret-value-1\n")
    script = "cat .made; echo $CI; ls -a; echo $CANARY_TOKEN; hostname; echo new > notes.txt; echo x > made.txt"
    task_id = run(sidecar, script, "name=.en; echo evil > ${name}vrc; cat notes.txt")
    assert sidecar.wait_for_end(task_id)["status"] == "completed"

    first, second = outcomes(sidecar, task_id)
    said = str(first["details"])
    assert "made" in said and "yes" in said and ".env" not in said
    assert SECRET not in json.dumps(sidecar.events(task_id))
    assert ".envrc: changing" in str(second["details"])
    assert (sidecar.workspace / "notes.txt").read_text() == "new\n"
    assert not (sidecar.workspace / ".envrc").exists()
    changed = {file["path"] for file in first["details"]["files"]}  # type: ignore[index]
    assert changed == {"notes.txt", "made.txt"}

    rewound = sidecar.post(f"/api/brain/tasks/{task_id}/rewind", {"seq": 1}).json
    assert {file["path"] for file in rewound["files"]} == {"notes.txt", "made.txt"}
    assert (sidecar.workspace / "notes.txt").read_text() == "old\n"
    assert not (sidecar.workspace / "made.txt").exists()
    assert len(containers(engine)) == 1, "kept for the next command"
    sidecar.stop()
    assert containers(engine) == []


def test_a_cancelled_task_leaves_no_container(sidecar: RunningSidecar, engine: str) -> None:
    task_id = run(sidecar, "echo begun; sleep 300")
    sidecar.wait_for_event(task_id, lambda event: event["type"] == "tool" and event["status"] == "running")
    wait_until(lambda: containers(engine), what="the container")
    sidecar.post(f"/api/brain/tasks/{task_id}/cancel")
    assert sidecar.wait_for_end(task_id)["status"] == "cancelled"
    wait_until(lambda: containers(engine) == [], what="no container")


def test_a_cancelled_task_ends_what_it_runs_in_the_background_too(sidecar: RunningSidecar, engine: str) -> None:
    background = {"tool": "run_command", "args": {"command": "echo begun; sleep 300", "background": True}}
    waiting = {"tool": "run_command", "args": {"command": "sleep 300"}}
    models = sidecar.script("s", [{"calls": [background]}, {"calls": [waiting]}, {"text": "done"}])
    options = {"approvals": "auto", "intent": "run_command", "agentType": "terminal", "verify": "off"}
    task_id = sidecar.execute("x", models=models, **options)
    wait_until(lambda: len(containers(engine)) == 2, what="both containers")
    sidecar.post(f"/api/brain/tasks/{task_id}/cancel")
    assert sidecar.wait_for_end(task_id)["status"] == "cancelled"
    wait_until(lambda: containers(engine) == [], what="no container")


def test_a_killed_sidecar_leaves_a_container_that_the_next_one_removes(sidecar: RunningSidecar, engine: str) -> None:
    task_id = run(sidecar, "echo once >> runs.txt; sleep 300")
    wait_until(lambda: containers(engine), what="the container")
    sidecar.kill()
    (left,) = containers(engine)
    sidecar.restart()
    wait_until(lambda: left not in containers(engine), what="the container's end")
    assert sidecar.wait_for_end(task_id)["status"] in ("completed", "failed", "escalated")
    assert not (sidecar.workspace / "runs.txt").exists()


def test_a_time_limit_holds_and_says_what_became_of_the_changes(sidecar: RunningSidecar, engine: str) -> None:
    call = {"tool": "run_command", "args": {"command": "echo x > partial.txt; sleep 300", "timeoutMs": 15_000}}
    models = sidecar.script("s", [{"calls": [call]}, {"text": "done"}])
    task_id = sidecar.execute(
        "x", models=models, approvals="auto", intent="run_command", agentType="terminal", verify="off"
    )
    sidecar.wait_for_end(task_id)
    (outcome,) = outcomes(sidecar, task_id)
    assert outcome["error"]["code"] == "timed_out"  # type: ignore[index]
    assert "stayed in the sandbox" in str(outcome["details"])
    assert not (sidecar.workspace / "partial.txt").exists()
    assert containers(engine) == []


def test_policy_asks_and_denies_as_on_this_machine(sidecar: RunningSidecar) -> None:
    denied = run(sidecar, "sudo true", "cat .env")
    sidecar.wait_for_end(denied)
    assert [each["error"]["code"] for each in outcomes(sidecar, denied)] == ["denied", "denied"]  # type: ignore[index]
    asked = run(sidecar, "make something", approvals="ask")
    event = sidecar.wait_for_event(asked, lambda event: event["type"] == "approval")
    assert event["argv"] == ["/bin/sh", "-c", "make something"]


def test_an_engine_that_is_gone_is_an_error_and_nothing_runs_here(sidecar: RunningSidecar) -> None:
    configure(sidecar, socket=str(sidecar.workspace / "no.sock"), template=IMAGE)
    task_id = run(sidecar, f"touch {sidecar.workspace}/ran-here")
    sidecar.wait_for_end(task_id)
    (outcome,) = outcomes(sidecar, task_id)
    assert outcome["error"]["code"] == "sandbox_failed"  # type: ignore[index]
    assert not (sidecar.workspace / "ran-here").exists()
