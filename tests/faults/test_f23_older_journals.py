"""F23: a journal that any released version wrote is opened by this one and replayed to the same state.

`tests/journals/VERSION.sql` is what that version wrote, as SQL; `VERSION.json` what it said of its tasks.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.journal.migrations import MIGRATIONS, migrate
from sidecar.journal.projection import TaskProjection, fold
from sidecar.journal.rows import checksum, is_damaged
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import EventPage
from tests.e2e.support import RunningSidecar, running_sidecar
from tests.waiting import wait_until

JOURNALS = Path(__file__).parents[1] / "journals"
VERSIONS = sorted(path.stem for path in JOURNALS.glob("*.sql"))


INTERRUPTED = "0.1.0-interrupted"


def written_by(version: str, path: Path, workspace: Path | None = None) -> None:
    connection = sqlite3.connect(path)
    connection.executescript((JOURNALS / f"{version}.sql").read_text())
    if workspace is not None:
        move_tasks(connection, workspace)
    connection.close()


def move_tasks(connection: sqlite3.Connection, workspace: Path) -> None:
    """The directory in which the tasks were recorded is gone: let them go on in another one."""
    rows = connection.execute("SELECT position, id, created_at, request FROM tasks").fetchall()
    for position, task_id, created_at, request in rows:
        moved = request.replace(json.loads(request)["workspace"], str(workspace))
        values = (moved, checksum(task_id, created_at, moved), position)
        connection.execute("UPDATE tasks SET request = ?, request_checksum = ? WHERE position = ?", values)
    connection.commit()


def test_f23_every_released_version_has_left_a_journal() -> None:
    assert VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
async def test_f23_an_older_journal_shows_the_same_tasks(version: str, tmp_path: Path) -> None:
    written_by(version, tmp_path / "journal.db")
    expected = json.loads((JOURNALS / f"{version}.json").read_text())
    journal = await SqliteJournal.open(tmp_path / "journal.db")
    try:
        assert journal.state().set_aside == []
        tasks = await journal.tasks(limit=1_000)
        assert len(tasks) == len(expected["tasks"])
        for task, before in zip(tasks, expected["tasks"], strict=True):
            now = json.loads(task.to_json())
            assert {name: now[name] for name in before} == before
            # Fields that the older version didn't have.
            assert (now["pinned"], now["archived"], bool(now["title"])) == (False, False, True)
        for task in tasks:
            page = await journal.events(task.id, limit=10_000)
            assert [json.loads(event.data) for event in page.events] == expected["events"][task.id]
            state = TaskProjection()
            body = f'{{"events":[{",".join(event.data for event in page.events)}],"lastSeq":0,"more":false}}'
            for event in EventPage.model_validate_json(body).events:
                state = fold(state, event, event.at)
            assert (state.status, state.result, state.usage) == (task.status, task.result, task.usage)
    finally:
        await journal.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_f23_what_an_older_version_left_open_is_gone_on_with(version: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    written_by(version, tmp_path / "data" / "journal.db")
    with running_sidecar(tmp_path) as sidecar:
        statuses = {task["status"] for task in sidecar.get("/api/brain/tasks").json["tasks"]}
        assert not statuses & {"interrupted"}
        assert sidecar.wait_for_end(sidecar.execute("list the files"))["status"] == "completed"


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningSidecar, dict[str, str]]]:
    """A sidecar of this version on a journal of the one before, and its tasks by what they were asked."""
    path = tmp_path_factory.mktemp("resumed")
    (path / "data").mkdir()
    (path / "workspace").mkdir()
    written_by(INTERRUPTED, path / "data" / "journal.db", path / "workspace")
    recorded = json.loads((JOURNALS / f"{INTERRUPTED}.json").read_text())
    scripts = path / "data" / "scripts"
    scripts.mkdir()
    for name, replies in recorded["scripts"].items():
        (scripts / f"{name}.json").write_text(json.dumps(replies))
    with running_sidecar(path) as sidecar:
        yield sidecar, {task["task"]: task["id"] for task in recorded["tasks"]}


def allow_all(sidecar: RunningSidecar, task_id: str) -> Any:
    """Allow what the task asks for until it ends."""
    answered: set[str] = set()

    def has_ended() -> bool:
        for event in sidecar.events(task_id):
            if event["type"] == "approval" and event["approvalId"] not in answered:
                answered.add(event["approvalId"])
                path = f"/api/brain/tasks/{task_id}/approvals/{event['approvalId']}"
                sidecar.post(path, {"decision": "allow", "scope": "once"})
        return sidecar.task(task_id)["status"] in ("completed", "failed", "escalated")

    wait_until(has_ended, what="the end of the task")
    return sidecar.task(task_id)


def messages(sidecar: RunningSidecar, task_id: str) -> Counter[str]:
    events = sidecar.events(task_id)
    return Counter(event["messageId"] for event in events if event["type"] == "message")


def test_f23_a_task_interrupted_in_the_middle_of_a_plan_goes_on_and_repeats_nothing(
    resumed: tuple[RunningSidecar, dict[str, str]],
) -> None:
    sidecar, tasks = resumed
    task = allow_all(sidecar, tasks["plan it"])
    assert task["status"] == "completed", task
    assert set(messages(sidecar, task["id"]).values()) == {1}, "no turn was asked for twice"
    tools = [event for event in sidecar.events(task["id"]) if event["type"] == "tool"]
    written = Counter(
        event["callId"] for event in tools if event["tool"] == "write_file" and event["status"] == "success"
    )
    assert set(written.values()) == {1}
    assert written[f"{task['id']}.r1.2-coder.s1.0.0"] == 1
    assert [event["agent"] for event in sidecar.events(task["id"]) if event["type"] == "step"].count("planner") == 2


def test_f23_an_approval_that_was_asked_for_can_still_be_given(resumed: tuple[RunningSidecar, dict[str, str]]) -> None:
    sidecar, tasks = resumed
    assert allow_all(sidecar, tasks["ask me"])["status"] == "completed"


@pytest.mark.parametrize(("asked", "resumes"), [("budget it", 1), ("limit it", 2), ("rewind it", 1)])
def test_f23_a_task_that_stopped_at_a_limit_or_was_rewound_can_be_resumed(
    resumed: tuple[RunningSidecar, dict[str, str]], asked: str, resumes: int
) -> None:
    """A limit of one turn lets the agent take one more at each resume; two were left."""
    sidecar, tasks = resumed
    statuses = []
    for _ in range(resumes):
        assert sidecar.post(f"/api/brain/tasks/{tasks[asked]}/resume").status == 202
        statuses.append(allow_all(sidecar, tasks[asked])["status"])
    assert statuses == ["failed", "completed"][-resumes:]


def test_f23_an_escalated_task_has_attempts_of_its_own_again(resumed: tuple[RunningSidecar, dict[str, str]]) -> None:
    sidecar, tasks = resumed
    assert sidecar.post(f"/api/brain/tasks/{tasks['escalate it']}/resume").status == 202
    sidecar.wait_for_end(tasks["escalate it"])
    checks = [event["attempt"] for event in sidecar.events(tasks["escalate it"]) if event["type"] == "verification"]
    assert checks == [1, 2, 3, 1, 2, 3]


def test_f23_records_get_their_kinds_and_a_damaged_one_stays_damaged(tmp_path: Path) -> None:
    written_by(INTERRUPTED, tmp_path / "journal.db")
    connection = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
    connection.execute("UPDATE records SET body = body || ' ' WHERE key = 'r1.2-coder.s1.0'")
    migrate(connection)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    kinds = {kind for (kind,) in connection.execute("SELECT DISTINCT kind FROM records")}
    assert kinds >= {"step", "turn", "verification", "budget", "stopped", "escalation", "intent", "outcome"}
    rows = connection.execute("SELECT checksum, kind, key, body FROM records").fetchall()
    damaged = [row[2] for row in rows if is_damaged(row[0], *(text.encode() for text in row[1:]))]
    assert damaged == ["r1.2-coder.s1.0"]
    connection.close()
