"""S16, S17: a yes is for exactly what was asked, the question shows all of it, and it can be withdrawn."""

from pathlib import Path

import pytest

from tests.e2e.support import Json, RunningSidecar
from tests.support.workbench import workbench
from tools.executor.binding import bind


def asked(sidecar: RunningSidecar, task_id: str) -> Json:
    return sidecar.wait_for_event(task_id, lambda event: event["type"] == "approval" and event["state"] == "requested")


def task(sidecar: RunningSidecar, *commands: str) -> str:
    calls = [{"calls": [{"tool": "run_command", "args": {"command": command}}]} for command in commands]
    models = sidecar.script("asks", [*calls, {"text": "done"}])
    return sidecar.execute("x", models=models, agentType="terminal", intent="run_command")


def answer(sidecar: RunningSidecar, task_id: str, approval: Json, scope: str, decision: str = "allow") -> None:
    path = f"/api/brain/tasks/{task_id}/approvals/{approval['approvalId']}"
    assert sidecar.post(path, {"decision": decision, "scope": scope}).status == 200


def test_s16_for_the_workspace_holds_for_the_same_and_nothing_else_and_over_a_restart(sidecar: RunningSidecar) -> None:
    first = task(sidecar, "echo one >> log.txt")
    answer(sidecar, first, asked(sidecar, first), "workspace")
    assert sidecar.wait_for_end(first)["status"] == "completed"
    sidecar.restart()

    same = task(sidecar, "echo one >> log.txt")
    assert sidecar.wait_for_end(same)["status"] == "completed"
    assert not [event for event in sidecar.events(same) if event["type"] == "approval"]

    other = task(sidecar, "echo two >> log.txt")
    answer(sidecar, other, asked(sidecar, other), "once", "deny")
    sidecar.wait_for_end(other)
    assert (sidecar.workspace / "log.txt").read_text() == "one\none\n"

    (grant,) = sidecar.get("/api/brain/approvals").json["approvals"]
    assert grant["argv"] == ["/bin/sh", "-c", "echo one >> log.txt"]
    assert sidecar.post("/api/brain/approvals/revoke", {"id": grant["id"]}).json == {"approvals": []}
    assert sidecar.post("/api/brain/approvals/revoke", {"id": grant["id"]}).status == 404
    again = task(sidecar, "echo one >> log.txt")
    assert asked(sidecar, again)
    sidecar.post(f"/api/brain/tasks/{again}/cancel")


@pytest.mark.parametrize("scope", ["task", "workspace"])
def test_s16_what_was_revoked_is_asked_again_in_the_very_task_that_it_was_allowed_for(
    sidecar: RunningSidecar, scope: str
) -> None:
    task_id = task(sidecar, "echo one >> log.txt", "touch other", "echo one >> log.txt")
    first = asked(sidecar, task_id)
    answer(sidecar, task_id, first, scope)
    second = sidecar.wait_for_event(task_id, lambda e: e["type"] == "approval" and "other" in str(e.get("argv")))
    (allowed,) = sidecar.get("/api/brain/approvals").json["approvals"]
    assert allowed["argv"] == first["argv"]
    assert allowed.get("taskId") == (task_id if scope == "task" else None)
    body = {"id": allowed["id"], **({"taskId": task_id} if scope == "task" else {})}
    assert sidecar.post("/api/brain/approvals/revoke", body).json == {"approvals": []}
    assert sidecar.post("/api/brain/approvals/revoke", body).status == 404
    answer(sidecar, task_id, second, "once")
    third = sidecar.wait_for_event(
        task_id,
        lambda e: (
            e["type"] == "approval"
            and e["argv"] == first["argv"]
            and e["seq"] > second["seq"]
            and e["state"] == "requested"
        ),
    )
    assert third["approvalId"] != first["approvalId"]
    sidecar.post(f"/api/brain/tasks/{task_id}/cancel")


def test_s17_the_question_shows_every_line_of_a_file_that_would_be_written(sidecar: RunningSidecar) -> None:
    lines = [f"VALUE_{number}=1" for number in range(300)]
    write = {"tool": "write_file", "args": {"path": "deep/.env", "content": "\n".join(lines) + "\n"}}
    models = sidecar.script("writes", [{"calls": [write]}, {"text": "done"}])
    task_id = sidecar.execute("x", models=models, agentType="coder", intent="edit_code")
    shown = asked(sidecar, task_id)["diff"].splitlines()
    assert shown[:3] == ["--- /dev/null", "+++ b/deep/.env", "@@ -0,0 +1,300 @@"]
    assert shown[3:] == [f"+{line}" for line in lines]
    sidecar.post(f"/api/brain/tasks/{task_id}/cancel")


def test_several_questions_are_answered_at_once(sidecar: RunningSidecar) -> None:
    calls = [{"tool": "write_file", "args": {"path": f"{name}/.env", "content": "A=1"}} for name in ("a", "b")]
    models = sidecar.script("several", [{"calls": calls}, {"text": "done"}])
    task_id = sidecar.execute("x", models=models, agentType="coder", intent="edit_code")
    waiting: dict[str, Json] = {}
    with sidecar.stream(task_id) as events:
        for event in events:
            if event["type"] == "approval":
                waiting[event["approvalId"]] = event
            if len(waiting) == 2:
                break
    answers = [{"approvalId": each, "decision": "allow"} for each in waiting]
    assert sidecar.post(f"/api/brain/tasks/{task_id}/approvals", {"answers": answers}).status == 200
    assert sidecar.post(f"/api/brain/tasks/{task_id}/approvals", {"answers": answers}).status == 409
    sidecar.wait_for_event(task_id, lambda event: event["type"] == "diff")
    sidecar.post(f"/api/brain/tasks/{task_id}/cancel")


def test_s16_a_no_for_the_task_is_not_asked_about_again(sidecar: RunningSidecar) -> None:
    task_id = task(sidecar, "touch planted", "touch planted")
    answer(sidecar, task_id, asked(sidecar, task_id), "task", "deny")
    sidecar.wait_for_end(task_id)
    requested = [e for e in sidecar.events(task_id) if e["type"] == "approval" and e["state"] == "requested"]
    assert len(requested) == 1
    assert not (sidecar.workspace / "planted").exists()


def test_s16_another_argument_directory_program_or_value_is_another_act(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "build.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)

    def bound(command: str = "./build.sh x", cwd: Path = tmp_path) -> str:
        return bind("run_command", {"command": command}, str(cwd), command, None).digest

    before = bound()
    assert bound() == before
    assert bound("./build.sh y") != before
    assert bound(cwd=tmp_path.parent) != before
    script.write_text("#!/bin/sh\nevil\n")
    assert bound() != before
    script.write_text("#!/bin/sh\n")
    assert bound() == before
    monkeypatch.setenv("LD_LIBRARY_PATH", "/evil")
    assert bound() != before


def test_s17_the_question_shows_everything_and_hides_nothing(sidecar: RunningSidecar) -> None:
    blank = "\u00ad\u034f\u1160\u180e\u2003\u202f\u2800\u3164\uffa0\U000e0100"
    command = f"echo \u202egnihtemos\u202c \u200b {blank} \x1b[2K; " + "true " * 200 + "; touch last"
    task_id = task(sidecar, command)
    event = asked(sidecar, task_id)
    assert event["argv"][2].endswith("; touch last")
    assert event["argv"][2].count("true") == 200
    assert event["cwd"] == str(sidecar.workspace)
    assert "PATH" in event["environment"]
    assert all(text.isprintable() for text in (event["argv"][2], event["action"]))
    assert "\\u202e" in event["argv"][2]
    assert not set(blank) & set(event["argv"][2] + event["action"])
    sidecar.post(f"/api/brain/tasks/{task_id}/cancel")


async def test_a_write_through_a_hard_link_asks(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    async with workbench(tmp_path, approvals="auto") as bench:
        (bench.workspace / "mine").hardlink_to(outside)
        bench.ledger.answer = "deny"
        outcome = await bench.call("write_file", path="mine", content="planted")
        assert outcome.error is not None and outcome.error.code == "denied"
        assert "hard link" in bench.ledger.questions[0].why
    assert outside.read_text() == "theirs"


@pytest.mark.parametrize("name", ["Makefile", "package.json", "sub/makefile"])
async def test_s15_changing_what_others_run_by_name_asks(tmp_path: Path, name: str) -> None:
    async with workbench(tmp_path, approvals="auto") as bench:
        assert (await bench.call("write_file", path=name, content="{}")).status == "success"
        bench.ledger.answer = "deny"
        outcome = await bench.call("write_file", path=name, content='{"scripts": {"test": "evil"}}')
        assert outcome.error is not None and outcome.error.code == "denied"
