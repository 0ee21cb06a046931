"""Tasks that are cancelled, resumed, spoken to and watched in the very moments in which they begin and end."""

import random
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.support import ENDED, Json, RunningSidecar, running_sidecar

TASKS = 150
#: Which status may follow which.
FOLLOWS = {
    None: {"queued"},
    "queued": {"running", "cancelling"},
    "running": {"completed", "cancelling"},
    "cancelling": {"cancelled"},
    "cancelled": {"queued"},
    "completed": {"queued"},
}
ACTS = ("cancel", "cancel", "resume", "messages", "task", "events", "stream")


def _live(sidecar: RunningSidecar, number: int, models: Json) -> tuple[str, list[int]]:
    """One task and what is done to it, and the answers."""
    chance = random.Random(number)
    key = {"Idempotency-Key": f"moment-{number}"}
    options = {"models": models, "intent": "edit_code", "agentType": "coder", "verify": "off"}
    body = {"task": "look", "options": {**options, "priority": chance.choice(["high", "normal", "low"])}}
    begun = sidecar.post("/api/brain/execute", body, headers=key)
    task_id, answers = begun.json["taskId"], [begun.status]
    assert sidecar.post("/api/brain/execute", body, headers=key).json["taskId"] == task_id
    for _ in range(chance.randint(1, 5)):
        threading.Event().wait(chance.choice([0, 0.001, 0.003, 0.005, 0.02]))
        act, path = chance.choice(ACTS), f"/api/brain/tasks/{task_id}"
        if act == "stream":
            with sidecar.stream(task_id) as events:
                next(events)
        elif act in ("task", "events"):
            answers.append(sidecar.get(path if act == "task" else f"{path}/events").status)
        else:
            answers.append(sidecar.post(f"{path}/{act}", {"text": "more"} if act == "messages" else {}).status)
    return task_id, answers


def _check_order(statuses: Iterable[str]) -> None:
    before = None
    for status in statuses:
        assert status in FOLLOWS[before], f"{before} → {status}"
        before = status


def test_no_task_stays_in_between_and_none_loses_or_doubles_an_event(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, BRAIN_MAX_TASKS="2") as sidecar, ThreadPoolExecutor(8) as people:
        look = {"text": "I look.", "delayMs": 3, "calls": [{"tool": "list_dir", "args": {}}]}
        models = sidecar.script("play", [look, {"text": "done", "delayMs": 2}, {"text": "and more"}])
        lives = list(people.map(lambda number: _live(sidecar, number, models), range(TASKS)))
        assert {status for _, answers in lives for status in answers} <= {200, 202, 409}
        for task_id, _ in lives:
            task = sidecar.wait_for_end(task_id)
            events = sidecar.events(task_id)
            assert [event["seq"] for event in events] == [*range(1, task["lastSeq"] + 1)]
            statuses = [event["status"] for event in events if event["type"] == "status"]
            _check_order(statuses)
            assert statuses[-1] == task["status"] and task["status"] in ENDED
            said = [event["messageId"] for event in events if event["type"] == "message"]
            assert len(said) == len(set(said)), "said twice"
        assert "ERROR" not in sidecar.log_file.read_text()
