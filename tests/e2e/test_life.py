"""A task's life, against the real process: watched, cancelled, resumed, killed and gone on with."""

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.projects import with_programs
from tests.e2e.support import RunningSidecar, host_pid, is_alive, running_sidecar
from tests.waiting import SECONDS, wait_until

SLOW = {"calls": [{"tool": "run_command", "args": {"command": "echo $$ > pid.txt; echo started; sleep 60"}}]}


def python_project(sidecar: RunningSidecar, body: str = "assert True") -> None:
    """A project with one test, that you trust."""
    (sidecar.workspace / "test_it.py").write_text(f"def test_it():\n    {body}\n")
    with_programs(sidecar.workspace, "pytest")
    assert sidecar.post("/api/brain/trust", {"workspace": str(sidecar.workspace), "trusted": True}).status == 200


def test_the_tests_are_run_and_the_outcome_is_reported(sidecar: RunningSidecar) -> None:
    python_project(sidecar)
    task = sidecar.wait_for_end(sidecar.execute("run the tests"))
    assert task["status"] == "completed"
    assert "1 passed" in task["result"]["summary"]
    tools = [event for event in sidecar.events(task["id"]) if event["type"] == "tool"]
    assert [event["status"] for event in tools] == ["running", "success"]
    assert tools[0]["tool"] == "run_tests"
    assert task["verified"] is True
    check = task["result"]["verification"]["checks"][-1]
    assert (check["exitCode"], check["passed"], "pytest" in check["command"]) == (0, True, True)


def test_failing_tests_are_named(sidecar: RunningSidecar) -> None:
    python_project(sidecar, "assert 1 == 2")
    task = sidecar.wait_for_end(sidecar.execute("run the tests"))
    assert "test_it" in task["result"]["summary"]
    assert "1 failed" in task["result"]["summary"]
    assert (task["status"], task["verified"]) == ("completed", False)
    (check,) = task["result"]["verification"]["checks"]
    assert check["exitCode"] == 1 and "test_it.py::test_it" in check["evidence"]


def test_the_files_are_listed_and_searched(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "notes.txt").write_text("a needle in here\n")
    listed = sidecar.wait_for_end(sidecar.execute("list the files"))
    assert "notes.txt" in listed["result"]["summary"]
    found = sidecar.wait_for_end(sidecar.execute("search for needle"))
    assert "notes.txt" in found["result"]["summary"]


def test_every_event_has_what_the_wire_promises(sidecar: RunningSidecar) -> None:
    task_id = sidecar.execute("list the files")
    with sidecar.stream(task_id) as stream:
        events = list(stream)
    for event in events:
        assert event["taskId"] == task_id
        assert event["at"].endswith("Z")
        assert ("seq" in event) == (event["type"] not in ("delta", "tool_output"))
    durable = [event for event in events if "seq" in event]
    assert [event["seq"] for event in durable] == list(range(1, len(durable) + 1))
    assert durable == sidecar.events(task_id)
    text = "".join(event["text"] for event in events if event["type"] == "delta")
    (message,) = [event for event in events if event["type"] == "message" and event["role"] == "assistant"]
    assert message["text"] == text or text == ""
    assert [event["type"] for event in durable][-2:] == ["complete", "status"]


def test_a_stream_is_resumed_by_last_event_id_across_a_kill_and_a_restart(sidecar: RunningSidecar) -> None:
    ask = {"calls": [{"tool": "run_command", "args": {"command": "echo once >> log.txt"}}]}
    models = sidecar.script("ask", [{"calls": [{"tool": "list_dir", "args": {}}]}, ask, {"text": "done"}])
    task_id = sidecar.execute("x", models=models, agentType="terminal", intent="run_command")
    seen = []
    with sidecar.stream(task_id) as events:
        for event in events:
            if "seq" in event:
                seen.append(event)
            if event["type"] == "approval":
                break
    sidecar.kill()
    sidecar.start()
    approval = seen[-1]
    answer = sidecar.post(f"/api/brain/tasks/{task_id}/approvals/{approval['approvalId']}", {"decision": "allow"})
    assert answer.status == 200
    with sidecar.stream(task_id, after=seen[-1]["seq"]) as events:
        seen += [event for event in events if "seq" in event]
    assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))
    assert seen == sidecar.events(task_id)
    statuses = [event["status"] for event in seen if event["type"] == "status"]
    assert "interrupted" in statuses
    assert statuses[-1] == "completed"
    assert (sidecar.workspace / "log.txt").read_text() == "once\n"


def test_two_readers_see_the_same(sidecar: RunningSidecar) -> None:
    models = sidecar.script("talk", [{"text": "one two three", "deltaMs": 20, "delayMs": 50}])
    task_id = sidecar.execute("x", models=models, intent="chat")

    def watch(_: int) -> list[int]:
        with sidecar.stream(task_id) as events:
            return [event["seq"] for event in events if "seq" in event]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(watch, range(2))
    assert first == second == [event["seq"] for event in sidecar.events(task_id)]


def test_cancel_leaves_no_process_behind_and_resume_goes_on(sidecar: RunningSidecar) -> None:
    models = sidecar.script("slow", [SLOW, {"text": "done"}])
    task_id = sidecar.execute("x", models=models, approvals="auto", agentType="terminal", intent="run_command")
    sidecar.wait_for_event(task_id, lambda event: event["type"] == "tool_output")
    wait_until((sidecar.workspace / "pid.txt").exists)
    pid = host_pid(task_id, int((sidecar.workspace / "pid.txt").read_text()))
    assert is_alive(pid)
    answer = sidecar.post(f"/api/brain/tasks/{task_id}/cancel")
    assert answer.status == 202
    assert answer.json["status"] in ("cancelling", "cancelled")
    task = sidecar.wait_for_end(task_id)
    assert task["status"] == "cancelled"
    assert not is_alive(pid), "the command outlived the cancel"
    assert sidecar.post(f"/api/brain/tasks/{task_id}/resume").status == 202
    wait_until(lambda: sidecar.task(task_id)["status"] == "completed", what="the resumed task")


def test_a_kill_in_the_middle_of_a_command_is_not_silently_repeated(sidecar: RunningSidecar) -> None:
    models = sidecar.script("slow", [SLOW, {"text": "done"}])
    task_id = sidecar.execute("x", models=models, approvals="auto", agentType="terminal", intent="run_command")
    wait_until((sidecar.workspace / "pid.txt").exists)
    pid = host_pid(task_id, int((sidecar.workspace / "pid.txt").read_text()))
    written = (sidecar.workspace / "pid.txt").stat().st_mtime_ns
    sidecar.kill()
    sidecar.start()
    task = sidecar.wait_for_end(task_id)
    assert task["status"] == "completed"
    assert (sidecar.workspace / "pid.txt").stat().st_mtime_ns == written, "the command was run again"
    assert not is_alive(pid), "what the killed sidecar had started is still there"
    statuses = [event["status"] for event in sidecar.events(task_id) if event["type"] == "tool"]
    assert statuses[-1] == "unknown"


def test_a_kill_while_cancelling_ends_as_cancelled_not_as_resumed(sidecar: RunningSidecar) -> None:
    stubborn = "trap '' TERM; echo $$ > pid.txt; echo started; while true; do sleep 1; done"
    models = sidecar.script("stubborn", [{"calls": [{"tool": "run_command", "args": {"command": stubborn}}]}])
    task_id = sidecar.execute("x", models=models, approvals="auto", agentType="terminal", intent="run_command")
    wait_until((sidecar.workspace / "pid.txt").exists)
    pid = host_pid(task_id, int((sidecar.workspace / "pid.txt").read_text()))
    sidecar.post(f"/api/brain/tasks/{task_id}/cancel")
    sidecar.kill()
    sidecar.start()
    wait_until(lambda: sidecar.task(task_id)["status"] == "cancelled", what="the end of the cancelling")
    wait_until(lambda: not is_alive(pid), what="the end of the command")


def test_term_checkpoints_what_runs_and_ends_with_zero_within_two_seconds(sidecar: RunningSidecar) -> None:
    models = sidecar.script("slow", [SLOW, {"text": "done"}])
    task_id = sidecar.execute("x", models=models, approvals="auto", agentType="terminal", intent="run_command")
    wait_until((sidecar.workspace / "pid.txt").exists)
    pid = host_pid(task_id, int((sidecar.workspace / "pid.txt").read_text()))
    with sidecar.stream(task_id) as events:
        next(events)
        assert sidecar.process is not None
        sidecar.process.send_signal(signal.SIGTERM)
        assert sidecar.process.wait(SECONDS) == 0
    sidecar.close()
    assert not is_alive(pid)
    sidecar.start()
    assert "interrupted" in [event.get("status") for event in sidecar.events(task_id)]
    assert sidecar.wait_for_end(task_id)["status"] == "completed"


def test_the_end_of_the_parent_is_the_end_of_the_sidecar(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, "--die-with-parent") as sidecar:
        assert sidecar.process is not None
        assert sidecar.process.stdin is not None
        sidecar.process.stdin.close()
        assert sidecar.process.wait(SECONDS) == 0


def test_the_ready_line_is_all_that_stdout_ever_gets(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        assert sidecar.ready.keys() == {"event", "url", "pid", "tokenFile", "version"}
        sidecar.wait_for_end(sidecar.execute("list the files"))
        sidecar.get("/nowhere")
        assert sidecar.process is not None
        assert sidecar.process.stdout is not None
        sidecar.process.send_signal(signal.SIGTERM)
        assert sidecar.process.stdout.read() == ""


def test_a_message_continues_a_completed_task_in_the_same_stream(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "a.txt").write_text("needle")
    task = sidecar.wait_for_end(sidecar.execute("list the files"))
    answer = sidecar.post(f"/api/brain/tasks/{task['id']}/messages", {"text": "search for needle"})
    assert answer.status == 202
    with sidecar.stream(task["id"], after=task["lastSeq"]) as events:
        later = [event for event in events if "seq" in event]
    assert later[0]["seq"] == task["lastSeq"] + 1
    assert later[-1]["status"] == "completed"
    assert "a.txt" in sidecar.task(task["id"])["result"]["summary"]


def test_the_same_idempotency_key_gives_the_same_task_across_a_restart(sidecar: RunningSidecar) -> None:
    body, headers = {"task": "list the files"}, {"Idempotency-Key": "abc"}
    first = sidecar.post("/api/brain/execute", body, headers=headers).json["taskId"]
    sidecar.kill()
    sidecar.start()
    assert sidecar.post("/api/brain/execute", body, headers=headers).json["taskId"] == first


def test_tasks_are_listed_by_page_and_status(sidecar: RunningSidecar) -> None:
    ids = [sidecar.execute("list the files") for _ in range(5)]
    for task_id in ids:
        sidecar.wait_for_end(task_id)
    first = sidecar.get("/api/brain/tasks?limit=2").json
    assert [task["id"] for task in first["tasks"]] == ids[:2:-1]
    second = sidecar.get(f"/api/brain/tasks?limit=3&before={first['nextBefore']}").json
    assert [task["id"] for task in second["tasks"]] == ids[2::-1]
    assert second["nextBefore"] is None
    assert sidecar.get("/api/brain/tasks?status=failed").json["tasks"] == []


def test_the_panel_trades_a_code_for_the_token_once(sidecar: RunningSidecar) -> None:
    code = sidecar.post("/api/brain/session/code").json["code"]
    traded = sidecar.post("/api/brain/session", {"code": code}, authenticated=False)
    assert traded.json["token"] == sidecar.token
    again = sidecar.post("/api/brain/session", {"code": code}, authenticated=False)
    assert (again.status, again.json["code"]) == (401, "bad_code")


def test_the_openapi_document_is_the_one_that_is_checked_in(sidecar: RunningSidecar) -> None:
    checked_in = json.loads((Path(__file__).parents[2] / "frontend" / "openapi.json").read_text())
    assert sidecar.get("/openapi.json", authenticated=False).json == checked_in
