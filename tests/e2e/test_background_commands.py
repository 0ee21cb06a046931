"""Commands in the background: they end with their task, and no other task can read or stop them."""

from tests.e2e.support import Json, RunningSidecar, host_pid, is_alive
from tests.waiting import wait_until

OPTIONS = {"approvals": "auto", "intent": "run_command", "agentType": "terminal", "verify": "off"}
SERVER = {"command": "echo secret-of-a; echo $$ > pid; exec sleep 1000", "background": True}


def call(tool: str, **args: object) -> Json:
    return {"calls": [{"tool": tool, "args": args}]}


def started(sidecar: RunningSidecar, task_id: str) -> int:
    file = sidecar.workspace / "pid"
    wait_until(lambda: file.exists() and file.read_text().strip(), what="the command's start")
    return host_pid(task_id, int(file.read_text()))


def test_a_background_command_ends_with_its_task_and_its_changes_are_in_the_result(sidecar: RunningSidecar) -> None:
    replies = [call("run_command", **SERVER), call("run_command", command="until [ -s pid ]; do sleep 0.05; done")]
    task_id = sidecar.execute("start it", models=sidecar.script("a", [*replies, {"text": "done"}]), **OPTIONS)
    pid = started(sidecar, task_id)

    assert sidecar.wait_for_end(task_id)["status"] == "completed"
    assert not is_alive(pid)
    assert sidecar.task(task_id)["result"]["filesModified"] == ["pid"]


def test_a_cancel_ends_background_commands_that_no_other_task_could_read_or_stop(sidecar: RunningSidecar) -> None:
    replies = [call("run_command", **SERVER), call("run_command", command="sleep 1000")]
    task_id = sidecar.execute("start it", models=sidecar.script("a", [*replies, {"text": "done"}]), **OPTIONS)
    pid = started(sidecar, task_id)
    command_id = next(event["callId"] for event in sidecar.events(task_id) if event["type"] == "tool")

    attack = [call("command_output", commandId=command_id), call("stop_command", commandId=command_id)]
    # It guesses too, to be told the ids that there are.
    attack += [call("command_output", commandId="guess"), {"text": "done"}]
    other = sidecar.execute("look", models=sidecar.script("b", attack), **OPTIONS)
    sidecar.wait_for_end(other)
    ended = [event for event in sidecar.events(other) if event["type"] == "tool" and event["status"] != "running"]
    assert [event["error"]["code"] for event in ended] == ["unknown_command"] * 3
    assert "secret-of-a" not in str(ended) and task_id not in ended[-1]["error"]["message"]
    assert is_alive(pid)

    sidecar.post(f"/api/brain/tasks/{task_id}/cancel")
    assert sidecar.wait_for_end(task_id)["status"] == "cancelled"
    assert not is_alive(pid)
