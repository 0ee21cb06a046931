"""What was begun when a task is stopped from outside: it has an end that everybody is told, and no word is lost."""

from pathlib import Path

from sidecar.engine.operations import Cancel, Resume
from sidecar.wire.tasks import Status
from tests.support.engine import EngineHarness, Json, engine_harness

SLOWLY: Json = {"text": "one two " + "and so on " * 2_000, "deltaMs": 2}
WAIT: Json = {"calls": [{"tool": "run_command", "args": {"command": "sleep 1000"}}]}


async def states(harness: EngineHarness, task_id: str) -> list[str]:
    return [event["state"] for event in await harness.events(task_id) if event["type"] == "step"]


async def answers(harness: EngineHarness, task_id: str) -> list[str]:
    events = await harness.events(task_id)
    return [event["text"] for event in events if event["type"] == "message" and event["role"] == "assistant"]


async def test_a_step_that_a_cancel_stops_has_an_end(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("wait", [WAIT])
        task_id = await harness.execute("x", models=models, approvals="auto", intent="run_command")
        await harness.until(task_id, "tool", status="running")
        await harness.submit(Cancel(task_id))
        assert (await harness.ended(task_id)).status is Status.CANCELLED
        assert await states(harness, task_id) == ["started", "failed"]


async def test_a_step_that_the_time_limit_stops_has_an_end(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("wait", [WAIT])
        task_id = await harness.execute("x", models=models, approvals="auto", intent="run_command", maxDuration=2)
        task = await harness.ended(task_id)
        assert task.error is not None and task.error.code == "max_duration"
        assert await states(harness, task_id) == ["started", "failed"]


async def test_the_words_that_a_cancel_cut_off_are_kept_and_the_resumed_task_says_them_anew(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("slow", [SLOWLY])
        task_id = await harness.execute("x", models=models, intent="chat")
        await harness.until(task_id, "delta", text="so ")
        await harness.submit(Cancel(task_id))
        await harness.ended(task_id)
        (cut,) = await answers(harness, task_id)
        assert cut.startswith("one two ") and len(cut) < len(SLOWLY["text"])

        harness.script("slow", [{"text": "all of it"}])
        await harness.submit(Resume(task_id))
        task = await harness.ended(task_id)
        assert task.status is Status.COMPLETED
        assert await answers(harness, task_id) == [cut, "all of it"]
        assert await states(harness, task_id) == ["started", "failed", "started", "completed"]


async def test_the_words_that_the_time_limit_cut_off_are_kept(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("slow", [SLOWLY])
        task_id = await harness.execute("x", models=models, intent="chat", maxDuration=0.3)
        assert (await harness.ended(task_id)).status is Status.FAILED
        (cut,) = await answers(harness, task_id)
        assert cut.startswith("one two ")
