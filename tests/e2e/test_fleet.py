"""Several sidecars and workers on one database: any node accepts, streams and cancels any task."""

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest
import yaml

from sidecar.commands.fleet import WAITING
from sidecar.fleet.leader import LOCK
from tests.e2e.support import PROJECT, Json, RunningSidecar, clean_environ, is_alive
from tests.e2e.terminal import BRAIN, brain, brain_output
from tests.support.fleet import RunningFleet, running_fleet
from tests.support.servers import Postgres
from tests.waiting import SECONDS, wait_until


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory, postgres: Postgres) -> Iterator[RunningFleet]:
    """Two nodes and a worker, for all tests that leave them as they are."""
    with running_fleet(tmp_path_factory.mktemp("fleet"), postgres.new_database()) as running:
        running.node()
        running.node()
        running.worker("--slots", "4")
        yield running


@pytest.fixture
def fleet(tmp_path: Path, postgres: Postgres) -> Iterator[RunningFleet]:
    with running_fleet(tmp_path, postgres.new_database()) as running:
        yield running


def sleeping(node: RunningSidecar, seconds: float = 60) -> str:
    """A task whose command sleeps."""
    models = node.script(
        "sleep",
        [
            {"text": "now", "calls": [{"tool": "run_command", "args": {"command": f"sleep {seconds}"}}]},
            {"text": "done"},
        ],
    )
    return node.execute("wait", models=models, approvals="auto", agentType="coder", intent="edit_code")


def state_of(node: RunningSidecar) -> Json:
    state: Json = node.get("/api/brain/fleet").json
    return state


def test_a_task_runs_on_a_worker_and_every_node_streams_it_from_any_point(standing: RunningFleet) -> None:
    (first, second), (worker,) = standing.nodes, standing.workers
    assert set(worker.ready) == {"event", "worker", "pid"}
    task_id = first.execute("what can you do?")
    assert second.wait_for_end(task_id)["status"] == "completed"
    events = first.events(task_id)
    for node in (first, second):
        for after in (0, 1, len(events) - 1):
            with node.stream(task_id, after) as stream:
                assert [event["seq"] for event in stream if "seq" in event] == [e["seq"] for e in events[after:]]
    assert second.get("/ready").status == 200
    state = state_of(second)
    assert {each["id"]: each["status"] for each in state["workers"]}[worker.id] == "running"
    assert state["queue"] == {"depth": 0, "pools": {}}
    wait_until(lambda: state_of(first)["leader"] in [each["id"] for each in state["workers"]], what="a leader")


def test_a_task_is_cancelled_from_another_node_with_its_processes(standing: RunningFleet) -> None:
    first, second = standing.nodes
    task_id = sleeping(first)
    first.wait_for_event(task_id, lambda event: event["type"] == "tool" and event["status"] == "running")
    assert second.post(f"/api/brain/tasks/{task_id}/cancel").status == 202
    assert first.wait_for_end(task_id)["status"] == "cancelled"


def test_the_fleet_names_the_worker_of_a_task_as_soon_as_it_runs(standing: RunningFleet) -> None:
    (first, second), (worker,) = standing.nodes, standing.workers
    task_id = sleeping(first)
    first.wait_for_event(task_id, lambda event: event["type"] == "tool" and event["status"] == "running")
    assert [each["id"] for each in state_of(second)["workers"] if task_id in each["tasks"]] == [worker.id]
    assert first.post(f"/api/brain/tasks/{task_id}/cancel").status == 202
    first.wait_for_end(task_id)
    wait_until(lambda: not any(task_id in each["tasks"] for each in state_of(second)["workers"]), what="its release")


def test_every_node_shows_what_a_command_prints_on_a_worker(standing: RunningFleet) -> None:
    first, second = standing.nodes
    command = "for i in $(seq 600); do echo line $i; sleep 0.1; done"
    call = {"tool": "run_command", "args": {"command": command}}
    models = first.script("printing", [{"text": "now", "calls": [call]}, {"text": "done"}])
    task_id = first.execute("print", models=models, approvals="auto", agentType="coder", intent="edit_code")
    for node in (first, second):
        with node.stream(task_id) as events:
            assert "line" in next(event["text"] for event in events if event["type"] == "tool_output")
    assert first.post(f"/api/brain/tasks/{task_id}/cancel").status == 202
    assert first.wait_for_end(task_id)["status"] == "cancelled"


def test_messages_and_answers_reach_the_worker_from_any_node(standing: RunningFleet) -> None:
    first, second = standing.nodes
    models = first.script(
        "ask",
        [
            {"text": "first", "calls": [{"tool": "run_command", "args": {"command": "touch x"}}]},
            {"text": "done"},
        ],
    )
    task_id = first.execute("do it", models=models, agentType="coder", intent="edit_code")
    asked = second.wait_for_event(task_id, lambda event: event["type"] == "approval")
    assert second.post(f"/api/brain/tasks/{task_id}/messages", {"text": "hurry"}).status == 202
    answer = {"decision": "allow", "scope": "once"}
    path = f"/api/brain/tasks/{task_id}/approvals/{asked['approvalId']}"
    assert second.post(path, answer).status == 200
    assert first.post(path, answer).status == 409
    assert first.wait_for_end(task_id)["status"] == "completed"
    assert (standing.workspace / "x").exists()


def test_a_token_works_on_every_node_until_it_is_removed(standing: RunningFleet) -> None:
    environ = {**standing.nodes[0].environ, "BRAIN_DATA_DIR": str(standing.workspace.parent / "elsewhere")}
    added = brain("tokens", "add", "alice", "--role", "look", "--json", environ=environ)
    headers = {"Authorization": f"Bearer {json.loads(added.stdout)['token']}"}

    def statuses() -> set[int]:
        return {node.get("/api/brain/tasks", headers=headers, authenticated=False).status for node in standing.nodes}

    wait_until(lambda: statuses() == {200}, what="all nodes to know it")
    for node in standing.nodes:
        refused = node.post("/api/brain/execute", {"task": "x"}, headers=headers, authenticated=False)
        assert refused.status == 403
    assert "alice" in brain("tokens", environ=environ).stdout
    assert brain("tokens", "remove", "alice", environ=environ).returncode == 0
    wait_until(lambda: statuses() == {401}, what="all nodes to refuse it")


def test_a_worker_that_is_stopped_hands_its_task_to_another(fleet: RunningFleet) -> None:
    node = fleet.node()
    one = fleet.worker()
    task_id = sleeping(node)
    node.wait_for_event(task_id, lambda event: event["type"] == "tool" and event["status"] == "running")
    fleet.worker()
    assert one.stop() == 0
    task = node.wait_for_end(task_id)
    assert task["status"] == "completed"
    statuses = [event["status"] for event in node.events(task_id) if event["type"] == "status"]
    assert statuses == ["queued", "running", "interrupted", "queued", "running", "completed"]


def test_a_drained_worker_finishes_its_task_and_exits(fleet: RunningFleet) -> None:
    node, worker = fleet.node(), fleet.worker()
    task_id = sleeping(node, 2)
    node.wait_for_event(task_id, lambda event: event["type"] == "tool" and event["status"] == "running")
    state = node.post("/api/brain/fleet/orders", {"worker": worker.id, "order": "drain"})
    assert state.status == 200
    assert worker.process is not None
    assert worker.process.wait(60) == 0
    assert node.task(task_id)["status"] == "completed"
    assert worker.id not in [each["id"] for each in state_of(node)["workers"]]
    assert node.post("/api/brain/fleet/orders", {"worker": "nobody", "order": "stop"}).status == 404


def test_tasks_of_a_pool_wait_for_its_workers(fleet: RunningFleet) -> None:
    node = fleet.node()
    fleet.worker()
    waiting = node.execute("what can you do?", pool="exploration")
    assert node.wait_for_end(node.execute("what can you do?"))["status"] == "completed"
    assert node.task(waiting)["status"] == "queued"
    assert state_of(node)["queue"] == {"depth": 1, "pools": {"exploration": 1}}
    assert "No worker runs the tasks of exploration. Start one: brain worker --pool exploration" in brain_output(
        node, "fleet"
    )
    fleet.worker("--pool", "exploration")
    assert "No worker" not in brain_output(node, "fleet")
    assert node.wait_for_end(waiting)["status"] == "completed"


def test_a_node_that_leads_starts_schedules_and_other_commands_find_it(fleet: RunningFleet, tmp_path: Path) -> None:
    schedule = tmp_path / "config" / "rainy-brain" / "schedules" / "look.md"
    schedule.parent.mkdir(parents=True)
    schedule.write_text(f"---\nevery: 4w\nworkspace: {fleet.workspace}\napprovals: readonly\n---\nlist the files\n")
    os.utime(schedule, (0, 0))
    node = fleet.node()

    def scheduled() -> list[Json]:
        return [task for task in node.get("/api/brain/tasks").json["tasks"] if task["task"] == "list the files"]

    wait_until(scheduled, what="the scheduled task")
    assert [each["status"] for each in state_of(node)["workers"]] == ["serving"]
    fleet.worker("--pool", "*")
    assert node.wait_for_end(scheduled()[0]["id"])["status"] == "completed"
    assert "serving" in brain_output(node, "fleet")
    assert len(state_of(node)["workers"]) == 2  # no other process was started to answer


def test_a_worker_without_a_database_says_what_to_set(tmp_path: Path) -> None:
    ended = brain("worker", environ=clean_environ(tmp_path))
    assert ended.returncode == 2
    assert "BRAIN_DATABASE_URL" in ended.stderr


async def test_the_tasks_and_notes_of_a_machine_are_copied_once(postgres: Postgres, tmp_path: Path) -> None:
    from sidecar.journal.sqlite import SqliteJournal
    from sidecar.memory.notes import Notes
    from sidecar.memory.shared_notes import SharedNotes
    from tests.contract.journals import new_task

    url, data = postgres.new_database(), tmp_path / "data"
    data.mkdir()
    journal = await SqliteJournal.open(data / "journal.db")
    await journal.create(new_task("t_1"))
    await journal.close()
    notes = Notes(data)
    decision = notes.add("/w", "decisions", "Use SQLite", "One file, no server.")
    proposed = notes.add("/other", "patterns", "Retry\0", "With a limit.", task="t_1")
    environ = clean_environ(tmp_path, BRAIN_DATA_DIR=str(data), BRAIN_DATABASE_URL=url)
    copied = brain("journal", "copy", environ=environ)
    assert "Copied 1 task; 0 there" in copied.stdout and "Copied 2 notes; 0 there" in copied.stdout, copied
    shared = SharedNotes(url)
    assert shared.list("/w") == [decision]
    assert shared.list("/other") == [proposed._replace(title="Retry\ufffd")]
    assert shared.accept(proposed.id)
    again = brain("journal", "copy", environ=environ)
    assert "Copied 0 tasks; 1 there" in again.stdout and "Copied 0 notes; 2 there" in again.stdout, again
    assert [note.state for note in shared.list("/other")] == ["accepted"]


def test_the_command_line_shows_the_fleet_and_stops_a_worker(standing: RunningFleet) -> None:
    node, (worker,) = standing.nodes[0], standing.workers
    environ = {**node.environ, "BRAIN_DATA_DIR": str(node.data_dir.parent / "other")}
    shown = brain("fleet", environ=environ)
    assert worker.id in shown.stdout and "No task is queued" in shown.stdout, shown
    assert worker.id in brain("top", "--once", environ=environ).stdout
    piped = brain("top", environ=environ).stdout
    assert worker.id in piped and "\x1b" not in piped, "without a terminal it shows the state once"
    assert brain("fleet", "drain", environ=environ).returncode == 2
    extra = standing.worker()
    assert brain("fleet", "kill", extra.id, environ=environ).returncode == 0
    assert extra.process is not None and extra.process.wait(60) == 0


@pytest.mark.timeout(600)
def test_scaling_starts_workers_while_tasks_wait_outlives_the_database_and_drains_the_idle(tmp_path: Path) -> None:
    server = Postgres()
    with closing(server), running_fleet(tmp_path, server.url) as fleet:
        node, said = fleet.node(), tmp_path / "scale.log"
        tasks = [sleeping(node, 300) for _ in range(2 * WAITING)]

        def workers() -> set[int]:
            return {each["pid"] for each in state_of(node)["workers"] if each["status"] == "running"}

        command = [*BRAIN, "fleet", "scale", "--most", "2", "--idle", "1", "--data-dir", str(tmp_path / "scaling")]
        environ = {**node.environ, "BRAIN_SCRIPTS": str(node.data_dir / "scripts")}
        with (
            said.open("w") as log,
            subprocess.Popen(command, stdout=log, stderr=log, env=environ) as scaling,
            ExitStack() as stack,
        ):
            stack.callback(scaling.kill)
            wait_until(lambda: len(workers()) == 2, seconds=3 * SECONDS, what="two workers")
            before = workers()
            server.stop_at_once()
            wait_until(lambda: "their number stays" in said.read_text(), what="the outage to be noticed")
            server.start()
            wait_until(lambda: node.get("/ready").status == 200, what="the database")
            wait_until(lambda: workers() == before, what="the same workers")
            for each in tasks:
                assert node.post(f"/api/brain/tasks/{each}/cancel").status == 202
            wait_until(lambda: len(workers()) == 1, what="an idle worker to go")
            (last,) = workers()
            scaling.terminate()
            assert scaling.wait(SECONDS) == 0
            wait_until(lambda: not is_alive(last), what="the last worker to end")


def test_a_worker_that_hangs_fails_its_probe(fleet: RunningFleet, tmp_path: Path) -> None:
    alive, manifest = tmp_path / "alive", (PROJECT / "packaging" / "fleet.yaml").read_text()
    (worker,) = [each for each in yaml.safe_load_all(manifest) if each["metadata"]["name"] == "brain-worker"]
    (container,) = worker["spec"]["template"]["spec"]["containers"]
    probe = [word.replace("/tmp/alive", str(alive)) for word in container["livenessProbe"]["exec"]["command"]]
    hanging = fleet.worker("--alive-file", str(alive))
    assert subprocess.run(probe, check=False).returncode == 0
    os.utime(alive, (0, 0))
    wait_until(lambda: subprocess.run(probe, check=False).returncode == 0, what="the next heartbeat")
    hanging.pause()
    os.utime(alive, (0, 0))
    assert subprocess.run(probe, check=False).returncode != 0


def test_scaling_without_a_database_says_what_to_set(tmp_path: Path) -> None:
    ended = brain("fleet", "scale", environ=clean_environ(tmp_path))
    assert ended.returncode == 2
    assert "BRAIN_DATABASE_URL" in ended.stderr


def test_ready_fails_while_no_one_leads_the_fleet(fleet: RunningFleet) -> None:
    node = fleet.node()
    wait_until(lambda: state_of(node)["leader"], what="a leader")
    assert node.get("/ready").status == 200
    url = node.environ["BRAIN_DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as usurper, psycopg.connect(url, autocommit=True) as other:
        waiting = threading.Thread(target=lambda: usurper.execute(f"SELECT pg_advisory_lock({LOCK})"))
        waiting.start()
        blocked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        wait_until(lambda: other.execute(blocked).fetchone() == (1,), what="the wait for the lock")
        # The leader loses its connection, and with it the lock, to somebody who doesn't lead.
        other.execute("SELECT pg_terminate_backend(backend) FROM leadership")
        waiting.join(60)
        other.execute("UPDATE leadership SET at = now() - interval '16 seconds'")
        answer = node.get("/ready", authenticated=False)
        assert answer.status == 503 and "has had no leader" in answer.json["detail"]
        assert node.get("/health", authenticated=False).status == 200
    wait_until(lambda: node.get("/ready").status == 200, what="a new leader")
