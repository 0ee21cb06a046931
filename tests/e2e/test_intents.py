"""From a sentence to finished work, against the real process."""

import json
from pathlib import Path

import pytest

from tests.e2e.projects import with_programs
from tests.e2e.support import Json, RunningSidecar, running_sidecar

AGENT = "---\ndescription: Writes SQL\nrole: fast\ntools: read_file\n---\nYou write SQL.\n"
COMMAND = "---\nagent: sql\nintent: explain_code\n---\nLook closely at $ARGUMENTS.\n"
PASSED = {"text": '{"passed": true}'}


def put(place: Path) -> None:
    for kind, text in (("agents", AGENT), ("commands", COMMAND)):
        (place / kind).mkdir(parents=True)
        (place / kind / "sql.md").write_text(text)


def kinds(events: list[Json]) -> list[str]:
    return [event["type"] for event in events]


@pytest.mark.parametrize(
    ("task", "intent", "pipeline", "found"),
    [
        ("run the tests", "run_command", ["terminal"], "1 passed"),
        ("list the files", "explain_code", ["coder"], "test_it.py"),
        ("search for NEEDLE", "explain_code", ["coder"], "notes.txt"),
        ("run `echo out loud`", "run_command", ["terminal"], "out loud"),
    ],
)
def test_what_needs_no_language_model_works_without_one(
    sidecar: RunningSidecar, task: str, intent: str, pipeline: list[str], found: str
) -> None:
    (sidecar.workspace / "test_it.py").write_text("def test_it():\n    assert True\n")
    (sidecar.workspace / "notes.txt").write_text("a NEEDLE\n")
    with_programs(sidecar.workspace, "pytest")
    assert sidecar.post("/api/brain/trust", {"workspace": str(sidecar.workspace), "trusted": True}).status == 200
    done = sidecar.wait_for_end(sidecar.execute(task))
    assert (done["status"], done["intent"], done["pipeline"]) == ("completed", intent, pipeline)
    assert found in done["result"]["summary"]


def test_every_intent_is_routed_carried_out_and_reported_in_order(sidecar: RunningSidecar) -> None:
    models = sidecar.script(
        "all", {"planner": [{"text": '{"steps": ["a", "b"]}'}], "reviewer": [PASSED], "*": [{"text": "Here you are."}]}
    )
    tasks = {
        "chat": "hello",
        "explain_code": "what does parse() do?",
        "edit_code": "fix the bug in parser.py",
        "refactor_code": "refactor parser.py",
        "create_project": "create a todo app",
        "run_command": "build it",
        "review_code": "review my changes",
        "write_docs": "write a README",
    }
    for intent, task in tasks.items():
        routed = sidecar.post("/api/brain/route", {"task": task}).json
        assert routed["intent"] == intent
        done = sidecar.wait_for_end(sidecar.execute(task, models=models))
        assert (done["status"], done["intent"]) == ("completed", intent), done
        events = sidecar.events(done["id"])
        assert kinds(events)[:4] == ["status", "message", "status", "route"]
        assert kinds(events)[-3:] == ["usage", "complete", "status"]
        steps = [event for event in events if event["type"] == "step"]
        assert [event["state"] for event in steps] == ["started", "completed"] * (len(steps) // 2)
        assert done["progress"]["step"] == done["progress"]["total"] == len(steps) // 2
        agents = list(dict.fromkeys(event["agent"] for event in steps))
        assert done["pipeline"] == routed["pipeline"]
        assert [name for name in done["pipeline"] if name in agents] == agents, "some of them, in order"


def test_a_planned_task_that_was_killed_goes_on_with_the_step_it_was_at(tmp_path: Path) -> None:
    plan = {"steps": [{"id": "1", "title": "First"}, {"id": "2", "title": "Second", "after": ["1"]}]}
    append = {"calls": [{"tool": "run_command", "args": {"command": "echo line >> log.txt"}}]}
    script = {
        "planner": [{"text": json.dumps(plan)}],
        "coder": [append, {"text": "ok", "delayMs": 60_000}],
        "reviewer": [PASSED],
    }
    with running_sidecar(tmp_path) as sidecar:
        models = sidecar.script("long", script)
        task_id = sidecar.execute("do it", models=models, intent="refactor_code", approvals="auto")
        sidecar.wait_for_event(task_id, lambda event: event["type"] == "tool" and event["status"] == "success")
        sidecar.kill()
        sidecar.script("long", {**script, "coder": [append, {"text": "ok"}]})
        sidecar.restart()
        done = sidecar.wait_for_end(task_id)
        assert done["status"] == "completed", done["error"]
        assert (sidecar.workspace / "log.txt").read_text() == "line\nline\n"
        completed = [
            event["message"]
            for event in sidecar.events(task_id)
            if event["type"] == "step" and event["state"] == "completed"
        ]
        assert completed[:3] == ["Plan the steps", "First", "Second"]


def test_own_agents_and_slash_commands_come_from_the_user_and_from_trusted_workspaces_only(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    put(workspace / ".brain")
    with running_sidecar(tmp_path, workspace=workspace) as sidecar:

        def agents() -> list[str]:
            return [agent["name"] for agent in sidecar.get("/api/brain/agents").json["agents"]]

        assert "sql" not in agents()
        assert sidecar.post("/api/brain/route", {"task": "/sql a.sql"}).json["pipeline"] != ["sql"]
        answer = sidecar.post("/api/brain/trust", {"workspace": str(workspace), "trusted": True})
        assert answer.status == 200, answer.body
        assert "sql" in agents()
        models = sidecar.script("own", {"sql": [{"text": "SELECT 1"}]})
        done = sidecar.wait_for_end(sidecar.execute("/sql a.sql", models=models))
        assert (done["status"], done["pipeline"]) == ("completed", ["sql"])
        assert done["result"]["summary"] == "SELECT 1"

    put(tmp_path / "config" / "rainy-brain")
    with running_sidecar(tmp_path, workspace=tmp_path / "other", data_dir=tmp_path / "data2") as sidecar:
        assert "sql" in [agent["name"] for agent in sidecar.get("/api/brain/agents").json["agents"]]
