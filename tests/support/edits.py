"""Tasks whose scripted model makes the given edits, and the files they start from."""

from typing import Any

from sidecar.wire.tasks import Status
from tests.support.engine import EngineHarness

BEFORE = "".join(f"line {number}\n" for number in range(1, 31))
AFTER = BEFORE.replace("line 3\n", "line three\n").replace("line 25\n", "line twenty-five\n")


def write(path: str, content: str) -> dict[str, Any]:
    return {"calls": [{"tool": "write_file", "args": {"path": path, "content": content}}]}


async def run_edits(harness: EngineHarness, *replies: object) -> str:
    models = harness.script("edit", [*replies, {"text": "done"}])
    task_id = await harness.execute(
        "x", models=models, intent="edit_code", agentType="coder", approvals="auto", verify="off"
    )
    task = await harness.ended(task_id)
    assert task.status is Status.COMPLETED, task.error
    return task_id


async def last_event_of_call(harness: EngineHarness, task_id: str, number: int) -> int:
    done = [event["seq"] for event in await harness.events(task_id) if event.get("status") == "success"]
    return int(done[number]) + 1  # with the diff that is told together with it
