"""A task that plans first reads, shows its plan, and changes nothing before the answer is to go ahead."""

import json

import pytest

from tests.e2e.support import Json, RunningSidecar

PLAN = json.dumps({"steps": [{"id": "1", "title": "Write hello.txt", "files": ["hello.txt"]}]})
WRITE = {"calls": [{"tool": "write_file", "args": {"path": "hello.txt", "content": "hello\n"}}]}
EARLY = {"calls": [{"tool": "get_workspace_info", "args": {}}, {"tool": "read_file", "args": {"path": ".env"}}]}
PASSED = [{"text": '{"passed": true, "issues": []}'}]


def start(sidecar: RunningSidecar, **options: object) -> str:
    script = {"planner": [EARLY, {"text": PLAN}], "coder": [WRITE, {"text": "Written."}], "reviewer": PASSED}
    models = sidecar.script("plan", script)
    return sidecar.execute(
        "write a file hello.txt", models=models, plan=True, intent="edit_code", verify="off", **options
    )


def asked(sidecar: RunningSidecar, task: str) -> Json:
    return sidecar.wait_for_event(task, lambda event: event["type"] == "question")


@pytest.mark.parametrize("approvals", ["ask", "readonly"])
def test_stopping_after_the_plan_changes_nothing(sidecar: RunningSidecar, approvals: str) -> None:
    (sidecar.workspace / ".env").write_text("KEY=1\n")
    task = start(sidecar, approvals=approvals)
    question = asked(sidecar, task)
    assert "Write hello.txt" in question["text"]
    assert question["choices"] == ["Go ahead", "Stop here"]
    sidecar.wait_for_status(task, "waiting")
    assert not [event for event in sidecar.events(task) if event["type"] == "approval"], "planning only reads"
    answer = f"/api/brain/tasks/{task}/questions/{question['questionId']}"
    assert sidecar.post(answer, {"answer": "Stop here"}).status == 200
    assert sidecar.post(answer, {"answer": "Go ahead"}).status == 409
    ended = sidecar.wait_for_end(task)
    assert ended["status"] == "completed"
    assert "Write hello.txt" in ended["result"]["summary"]
    assert not (sidecar.workspace / "hello.txt").exists()


def test_going_ahead_carries_the_plan_out_also_over_a_restart(sidecar: RunningSidecar) -> None:
    task = start(sidecar)
    question = asked(sidecar, task)
    sidecar.restart()
    sidecar.wait_for_status(task, "waiting")
    assert (
        sidecar.post(f"/api/brain/tasks/{task}/questions/{question['questionId']}", {"answer": "Go ahead"}).status
        == 200
    )
    assert sidecar.wait_for_end(task)["status"] == "completed"
    assert (sidecar.workspace / "hello.txt").read_text() == "hello\n"
    plans = [event for event in sidecar.events(task) if event["type"] == "question" and event["state"] == "asked"]
    assert len(plans) == 1


@pytest.mark.parametrize("options", [{"approvals": "auto"}, {"approvals": "ask", "unattended": True}])
def test_where_no_one_can_be_asked_it_stops_after_the_plan(sidecar: RunningSidecar, options: Json) -> None:
    task = start(sidecar, **options)
    assert sidecar.wait_for_end(task)["status"] == "completed"
    answered = [event for event in sidecar.events(task) if event["type"] == "question"][-1]
    assert (answered["state"], answered["answer"], answered["by"]) == ("answered", "Stop here", "policy")
    assert not (sidecar.workspace / "hello.txt").exists()


def test_a_question_about_the_code_needs_no_plan(sidecar: RunningSidecar) -> None:
    models = sidecar.script("plan", [{"text": "It is empty."}])
    task = sidecar.execute("what is here?", models=models, plan=True, intent="explain_code")
    assert sidecar.wait_for_end(task)["status"] == "completed"
    assert not [event for event in sidecar.events(task) if event["type"] == "question"]


def test_the_model_without_a_key_can_be_asked_for_a_plan_too(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "main.py").write_text("def greet():\n    return 1\n\n\nprint(greet())\n")
    task = sidecar.execute("rename greet to welcome", plan=True, verify="off")
    question = asked(sidecar, task)
    sidecar.post(f"/api/brain/tasks/{task}/questions/{question['questionId']}", {"answer": "Go ahead"})
    assert sidecar.wait_for_end(task)["status"] == "completed"
    assert "welcome" in (sidecar.workspace / "main.py").read_text()
