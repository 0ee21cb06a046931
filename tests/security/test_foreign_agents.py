"""Agents of others as workers: contained by the sandbox, asked about by us, undone and journaled like ours."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import PROJECT, RunningSidecar, running_sidecar
from tests.support.crew import Json, make_repository
from tests.waiting import wait_until

AGENTS = PROJECT / "tests" / "support" / "agents"


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[RunningSidecar]:
    (tmp_path / "elsewhere").mkdir()
    with running_sidecar(tmp_path, CANARY_API_KEY="canary-1234567890") as started:
        make_repository(started.workspace)
        yield started


def define(sidecar: RunningSidecar, tmp_path: Path, *command: str, more: str = "") -> None:
    file = tmp_path / "config" / "rainy-brain" / "agents" / "other.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\ncommand: {' '.join(command)}\n{more}---\n")


def hostile(sidecar: RunningSidecar, tmp_path: Path, mode: str) -> Json:
    program = str(AGENTS / "hostile.py")
    define(sidecar, tmp_path, sys.executable, program, mode, str(tmp_path / "elsewhere"), str(sidecar.data_dir))
    return start(sidecar)


def start(sidecar: RunningSidecar, **options: object) -> Json:
    chosen = {"agentType": "other", "intent": "edit_code", "approvals": "auto", "verify": "off", **options}
    return sidecar.wait_for_end(sidecar.execute("do it", isolation="worktree", **chosen))


def processes_of(task_id: str) -> list[str]:
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                if f"BRAIN_CALL_ID={task_id}".encode() in (place / "environ").read_bytes():
                    found.append(place.name)
            except OSError:
                continue
    return found


@pytest.mark.timeout(120)
def test_an_agent_with_the_official_sdk_works_in_the_tasks_worktree_and_its_work_can_be_undone(
    sidecar: RunningSidecar, tmp_path: Path
) -> None:
    define(sidecar, tmp_path, sys.executable, str(AGENTS / "polite.py"))
    task = start(sidecar, verify=["test -f loud.txt -a -f own.txt"])
    assert task["status"] == "completed", task["error"]
    assert task["verified"] is True
    # What its own commands printed is not on record, so its figures are neither proven nor held against it.
    assert task["result"]["summary"] == "Permission: yes. It is now 3x faster."
    tree = Path(task["worktree"])
    assert (tree / "loud.txt").read_text() == "NOTES\n"
    diff = sidecar.get(f"/api/brain/tasks/{task['id']}/diff").json
    assert {file["path"] for file in diff["files"]} == {"loud.txt", "own.txt"}
    assert not (sidecar.workspace / "own.txt").exists()
    undone = sidecar.post(f"/api/brain/tasks/{task['id']}/rewind", {"seq": 0}).json
    assert {file["path"] for file in undone["files"]} == {"loud.txt", "own.txt"}, undone
    assert not (tree / "own.txt").exists()


@pytest.mark.timeout(120)
def test_what_it_asks_for_becomes_our_approval_and_a_no_reaches_it(sidecar: RunningSidecar, tmp_path: Path) -> None:
    define(sidecar, tmp_path, sys.executable, str(AGENTS / "polite.py"))
    chosen = {"agentType": "other", "intent": "edit_code", "approvals": "ask", "verify": "off"}
    task_id = sidecar.execute("do it", isolation="worktree", **chosen)
    asked = sidecar.wait_for_event(task_id, lambda event: event["type"] == "approval")
    assert asked["action"] == "other: make world"
    sidecar.post(f"/api/brain/tasks/{task_id}/approvals/{asked['approvalId']}", {"decision": "deny"})
    assert sidecar.wait_for_end(task_id)["result"]["summary"].startswith("Permission: no.")


@pytest.mark.timeout(120)
def test_it_writes_nothing_outside_its_worktree(sidecar: RunningSidecar, tmp_path: Path) -> None:
    task = hostile(sidecar, tmp_path, "outside")
    assert task["status"] == "completed", task["error"]
    assert task["result"]["summary"] == "[true, true, true, true]"
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not Path(task["worktree"], "..", "escaped.txt").exists()


@pytest.mark.timeout(120)
def test_it_reads_neither_our_token_nor_keys_and_gets_no_secret_file_from_us(
    sidecar: RunningSidecar, tmp_path: Path
) -> None:
    (sidecar.workspace / ".env").write_text("PASSWORD=hunter2-canary\n")
    task = hostile(sidecar, tmp_path, "secrets")
    said = task["result"]["summary"]
    assert sidecar.token not in said
    assert "canary-1234567890" not in said
    assert said.endswith('true, "none"]')


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("mode", "why"), [("flood", "messages in a second"), ("large", "MiB"), ("die", "ended"), ("children", "ended")]
)
def test_one_that_floods_or_dies_fails_its_task_and_leaves_no_process(
    sidecar: RunningSidecar, tmp_path: Path, mode: str, why: str
) -> None:
    task = hostile(sidecar, tmp_path, mode)
    assert task["status"] == "failed"
    assert why in task["error"]["message"]
    assert processes_of(task["id"]) == []
    assert sidecar.get("/health").status == 200


@pytest.mark.timeout(120)
def test_cancel_ends_one_that_hangs_with_all_it_started_and_a_killed_sidecar_tries_it_again(
    sidecar: RunningSidecar, tmp_path: Path
) -> None:
    program = str(AGENTS / "hostile.py")
    define(sidecar, tmp_path, sys.executable, program, "hang", str(tmp_path), str(tmp_path))
    chosen = {"agentType": "other", "intent": "edit_code", "approvals": "auto", "verify": "off"}
    task_id = sidecar.execute("do it", isolation="worktree", **chosen)

    def runs(event: Json) -> bool:
        return event["type"] == "tool" and event["tool"] == "foreign_agent" and event["status"] == "running"

    sidecar.wait_for_event(task_id, runs)
    sidecar.kill()
    sidecar.start()
    tries = lambda: [event for event in sidecar.events(task_id) if runs(event)]  # noqa: E731
    wait_until(lambda: len(tries()) == 2, what="the second try")
    sidecar.post(f"/api/brain/tasks/{task_id}/cancel")
    assert sidecar.wait_for_end(task_id)["status"] == "cancelled"
    wait_until(lambda: not processes_of(task_id), what="the end of its processes")


@pytest.mark.timeout(120)
def test_a_workspace_names_no_program_and_readonly_starts_none(sidecar: RunningSidecar, tmp_path: Path) -> None:
    planted = sidecar.workspace / ".brain" / "agents" / "planted.md"
    planted.parent.mkdir(parents=True)
    planted.write_text(f"---\ncommand: touch {tmp_path}/elsewhere/ran\n---\nx\n")
    sidecar.post("/api/brain/trust", {"workspace": str(sidecar.workspace), "trusted": True})
    task = sidecar.wait_for_end(sidecar.execute("do it", agentType="planted", intent="edit_code"))
    assert task["error"]["code"] == "no_agent"
    assert "may not name a program" in task["error"]["message"]
    define(sidecar, tmp_path, "touch", f"{tmp_path}/elsewhere/ran")
    assert start(sidecar, approvals="readonly")["error"]["code"] == "readonly"
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.timeout(120)
def test_our_own_agent_works_for_us_like_any_other(sidecar: RunningSidecar, tmp_path: Path) -> None:
    (sidecar.workspace / "greet.py").write_text("def greet():\n    return 1\n\n\ngreet()\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    granted = f"writes: {inner}\nreads: {PROJECT}\n"
    define(sidecar, tmp_path, sys.executable, "-m", "sidecar", "acp", "--data-dir", str(inner), more=granted)
    models = dict.fromkeys(("fast", "smart", "instant"), "offline/builtin")
    task_id = sidecar.execute(
        "rename greet to welcome",
        isolation="worktree",
        agentType="other",
        intent="edit_code",
        approvals="auto",
        models=models,
        verify=["grep -q welcome greet.py"],
    )
    task = sidecar.wait_for_end(task_id)
    assert task["status"] == "completed", task["error"]
    assert task["verified"] is True
    assert Path(task["worktree"], "greet.py").read_text().count("welcome") == 2
