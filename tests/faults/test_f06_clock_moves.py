"""F6: the clock moves by a day while a task is at work: time limits do not care, and order is by sequence."""

from pathlib import Path

import pytest

from tests.e2e.support import running_sidecar
from tests.faults.programs import faketime_library

LIBRARY = faketime_library()


@pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed")
@pytest.mark.parametrize("moved", ["+1d", "-1d"])
def test_f06_a_clock_that_moves_a_day_ends_nothing_and_disorders_nothing(moved: str, tmp_path: Path) -> None:
    assert LIBRARY is not None
    clock = tmp_path / "clock"
    clock.write_text("+0\n")
    environ = {
        "LD_PRELOAD": LIBRARY,
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }
    ask = {"calls": [{"tool": "run_command", "args": {"command": "true"}}]}
    with running_sidecar(tmp_path, **environ) as sidecar:
        models = sidecar.script("ask", [ask, ask, {"text": "done"}])
        task_id = sidecar.execute("x", models=models, intent="run_command", agentType="terminal", maxDuration=60)
        for number in (1, 2):
            approval = sidecar.wait_for_event(
                task_id, lambda event, n=number: event["type"] == "approval" and event["callId"].endswith(f"{n - 1}.0")
            )
            clock.write_text(f"{moved}\n")
            answer = sidecar.post(
                f"/api/brain/tasks/{task_id}/approvals/{approval['approvalId']}", {"decision": "allow"}
            )
            assert answer.status == 200
        assert sidecar.wait_for_end(task_id)["status"] == "completed"
        events = sidecar.events(task_id)
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        days = {event["at"][:10] for event in events}
        assert len(days) == 2, "the clock did not move under it"
        second = sidecar.wait_for_end(sidecar.execute("list the files"))
        assert second["status"] == "completed"
        listed = [task["id"] for task in sidecar.get("/api/brain/tasks").json["tasks"]]
        assert listed == [second["id"], task_id]
