from sidecar.engine.state import TaskState
from sidecar.wire.base import JsonObject
from sidecar.work.facts import task_facts
from tools.ledger import IntentRecord, Outcome


def outcome(**details: object) -> Outcome:
    return Outcome(status="success", content="", details=dict(details), summary="", duration_ms=1)


def state_of(end: JsonObject | None) -> TaskState:
    args: JsonObject = {"command": "make build", "background": True}
    state = TaskState(intents={"b": IntentRecord(tool="run_command", args=args, backend="local")})
    state.outcomes["b"] = outcome(commandId="b")
    if end is not None:
        state.outcomes["c"] = outcome(startedBy="b", **end)
    return state


def test_a_background_command_counts_by_its_end_not_by_its_start() -> None:
    assert task_facts(state_of(None), True).commands == {"make build": None}
    assert task_facts(state_of({"running": True, "exitCode": None}), True).commands == {"make build": None}
    assert task_facts(state_of({"running": False, "exitCode": 2}), True).commands == {"make build": False}
    assert task_facts(state_of({"running": False, "exitCode": 0}), True).commands == {"make build": True}
