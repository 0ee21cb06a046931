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


def commands_of(state: TaskState) -> object:
    return task_facts(state, all_files_known=True, asked_to_change=True).commands


def test_a_background_command_counts_by_its_end_not_by_its_start() -> None:
    assert commands_of(state_of(None)) == {"make build": None}
    assert commands_of(state_of({"running": True, "exitCode": None})) == {"make build": None}
    assert commands_of(state_of({"running": False, "exitCode": 2})) == {"make build": False}
    assert commands_of(state_of({"running": False, "exitCode": 0})) == {"make build": True}
