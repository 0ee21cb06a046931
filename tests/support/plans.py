"""Scripts of planned and reviewed tasks, and what their events say."""

import json
from typing import Any

from sidecar.wire.tasks import Task
from tests.support.engine import EngineHarness, Json

PASSED = {"text": '{"passed": true}'}


FAILED = {"text": '{"passed": false, "issues": [{"file": "a.py", "line": 3, "severity": "error", "message": "wrong"}]}'}


def plan(*steps: Json) -> Json:
    return {"text": "A plan.\n```json\n" + json.dumps({"steps": steps}) + "\n```"}


async def ended(harness: EngineHarness, script: Any, task: str = "do it", **options: object) -> tuple[Task, list[Json]]:
    options = {"intent": "refactor_code", "approvals": "auto", **options}
    done = await harness.ended(await harness.execute(task, models=harness.script("play", script), **options))
    return done, await harness.events(done.id)


def steps(events: list[Json]) -> list[tuple[int, int, str, str]]:
    return [
        (event["step"], event["total"], event["agent"], event["message"])
        for event in events
        if event["type"] == "step" and event["state"] == "completed"
    ]
