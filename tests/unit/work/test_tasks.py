"""The whole of a task for each intent: what is told, in which order, with the real engine and a journal in memory."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from sidecar.wire.events import AnyEvent
from sidecar.wire.tasks import Status
from tests.support.engine import EngineHarness, Json, engine_harness
from tests.support.models import recorded_requests

BEGIN = ["queued", "message", "running", "route"]
END = ["usage", "complete", "completed"]
SAYS = ["step started {0}", "model", "message {0}", "step completed {0}"]
PASSED = {"text": 'Good.\n```json\n{"passed": true, "issues": []}\n```'}


def says(agent: str) -> list[str]:
    return [line.format(agent) for line in SAYS]


def plans() -> list[str]:
    return [*says("planner"), "plan pending", "handoff planner coder"]


def carries_out_the_plan() -> list[str]:
    started, *rest = says("coder")
    return [started, "plan running", *rest, "plan done"]


def reviews(worker: str = "") -> list[str]:
    started, *rest = says("reviewer")
    return [started, *([f"handoff {worker} reviewer"] if worker else []), *rest, "verdict"]


def told(events: list[Json]) -> list[str]:
    lines = []
    for event in events:
        match event["type"]:
            case "status":
                lines.append(event["status"])
            case "step":
                lines.append(f"step {event['state']} {event['agent']}")
            case "message":
                lines.append(f"message {event['agent']}".strip())
            case "tool":
                lines.append(f"tool {event['status']}")
            case "handoff":
                lines.append(f"handoff {event['from']} {event['to']}")
            case "plan":
                lines.append(f"plan {' '.join(item['state'] for item in event['items'])}")
            case other:
                lines.append(other)
    return lines


async def carried_out(harness: EngineHarness, task: str, script: Any, **options: object) -> list[Json]:
    models = harness.script("play", script)
    done = await harness.ended(await harness.execute(task, models=models, **options))
    assert done.status is Status.COMPLETED, done.error
    return await harness.events(done.id)


SEQUENCES = {
    "chat": ("hello there", says("coder")),
    "explain_code": ("explain the parser in parser.py", says("coder")),
    "run_command": ("build it", says("terminal")),
    "review_code": ("review my changes", reviews()),
    "edit_code": ("fix the bug in parser.py", [*says("coder"), *reviews("coder")]),
    "write_docs": ("write a README", [*says("docs"), *reviews("docs")]),
    "refactor_code": (
        "refactor the whole code base of the parser",
        [*plans(), *carries_out_the_plan(), *reviews("coder")],
    ),
    "create_project": (
        "create a todo app from scratch",
        [
            *plans(),
            *carries_out_the_plan(),
            "handoff coder terminal",
            *says("terminal"),
            "handoff terminal coder",
            *says("coder"),
            "handoff coder terminal",
            *says("terminal"),
            *reviews("coder"),
            "handoff reviewer docs",
            *says("docs"),
        ],
    ),
}


@pytest.mark.parametrize("intent", SEQUENCES)
async def test_every_intent_tells_its_story_in_order(tmp_path: Path, intent: str) -> None:
    task, between = SEQUENCES[intent]
    script = {
        "planner": [{"text": '{"steps": [{"title": "all of it"}]}'}],
        "reviewer": [PASSED],
        "*": [{"text": "Here you are."}],
    }
    with recorded_requests():
        async with engine_harness(tmp_path) as harness:
            events = await carried_out(harness, task, script, review="always")
    assert told(events) == [*BEGIN, *between, *END]
    (route,) = [event for event in events if event["type"] == "route"]
    assert route["intent"] == intent
    steps = [event for event in events if event["type"] == "step" and event["state"] == "completed"]
    assert [event["step"] for event in steps] == list(range(1, len(steps) + 1))
    assert {event["total"] for event in steps} == {len(steps)}
    adapter: TypeAdapter[Any] = TypeAdapter(AnyEvent)
    for event in events:
        assert {"type", "seq", "taskId", "at"} <= event.keys()
        adapter.validate_python(event)


async def test_intents_that_ask_for_no_change_get_no_tool_that_makes_one(tmp_path: Path) -> None:
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            for intent in ("chat", "explain_code", "review_code", "research"):
                await carried_out(harness, "x", [{"text": "ok"}], intent=intent)
    assert all(tool.effects == "none" for request in requests for tool in request.tools)


async def test_a_handoff_carries_what_was_done_and_what_remains(tmp_path: Path) -> None:
    write = {"tool": "write_file", "args": {"path": "a.txt", "content": "x\n"}}
    script = {"coder": [{"calls": [write]}, {"text": "I wrote a.txt."}], "reviewer": [PASSED]}
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            events = await carried_out(harness, "write a.txt", script, intent="edit_code")
    (handoff,) = [event for event in events if event["type"] == "handoff"]
    assert handoff["context"] == {
        "filesModified": ["a.txt"],
        "currentState": "I wrote a.txt.",
        "remainingTasks": ["Review the changes"],
    }
    assert handoff["reason"]
    heard = requests[-1].history[-1].text  # type: ignore[union-attr]
    assert "I wrote a.txt." in heard
    assert "+++ b/a.txt\n@@ -0,0 +1 @@\n+x" in heard


async def test_the_result_of_a_structured_review_is_in_words(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        script = {"coder": [{"text": "Here you are."}], "reviewer": [PASSED]}
        events = await carried_out(harness, "fix it", script, review="always")
    (complete,) = [event for event in events if event["type"] == "complete"]
    assert complete["result"]["summary"] == "Here you are.\n\nGood."


async def test_a_model_that_cannot_review_does_not_spoil_the_work(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("play", [{"text": "Here you are."}])
        task = await harness.ended(
            await harness.execute("fix it", models={**models, "fast": "offline/basic"}, intent="edit_code")
        )
    assert task.status is Status.COMPLETED
    assert task.result is not None
    assert task.result.summary == "Here you are."


async def test_a_task_of_the_user_is_never_mixed_with_what_a_command_stands_for(tmp_path: Path) -> None:
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            events = await carried_out(harness, "/explain fix everything", [{"text": "ok"}])
    assert requests[0].history[-1].text == "explain fix everything"  # type: ignore[union-attr]
    assert json.dumps(events).count("/explain") >= 1
