"""What was begun when a task is stopped from outside: it has an end that everybody is told, and no word is lost."""

from pathlib import Path

from sidecar.engine.operations import Cancel, Resume
from sidecar.wire.tasks import Status
from tests.unit.engine.house import House, Json, a_house

SLOWLY: Json = {"text": "one two " + "and so on " * 2_000, "deltaMs": 2}
WAIT: Json = {"calls": [{"tool": "run_command", "args": {"command": "sleep 1000"}}]}


async def states(house: House, task_id: str) -> list[str]:
    return [event["state"] for event in await house.events(task_id) if event["type"] == "step"]


async def answers(house: House, task_id: str) -> list[str]:
    events = await house.events(task_id)
    return [event["text"] for event in events if event["type"] == "message" and event["role"] == "assistant"]


async def test_a_step_that_a_cancel_stops_has_an_end(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        models = house.script("wait", [WAIT])
        task_id = await house.execute("x", models=models, approvals="auto", intent="run_command")
        await house.until(task_id, "tool", status="running")
        await house.submit(Cancel(task_id))
        assert (await house.ended(task_id)).status is Status.CANCELLED
        assert await states(house, task_id) == ["started", "failed"]


async def test_a_step_that_the_time_limit_stops_has_an_end(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        models = house.script("wait", [WAIT])
        task_id = await house.execute("x", models=models, approvals="auto", intent="run_command", maxDuration=0.3)
        task = await house.ended(task_id)
        assert task.error is not None and task.error.code == "max_duration"
        assert await states(house, task_id) == ["started", "failed"]


async def test_the_words_that_a_cancel_cut_off_are_kept_and_the_resumed_task_says_them_anew(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        models = house.script("slow", [SLOWLY])
        task_id = await house.execute("x", models=models, intent="chat")
        await house.until(task_id, "delta", text="two ")
        await house.submit(Cancel(task_id))
        await house.ended(task_id)
        (cut,) = await answers(house, task_id)
        assert cut.startswith("one two ") and len(cut) < len(SLOWLY["text"])

        house.script("slow", [{"text": "all of it"}])
        await house.submit(Resume(task_id))
        task = await house.ended(task_id)
        assert task.status is Status.COMPLETED
        assert await answers(house, task_id) == [cut, "all of it"]
        assert await states(house, task_id) == ["started", "failed", "started", "completed"]


async def test_the_words_that_the_time_limit_cut_off_are_kept(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        models = house.script("slow", [SLOWLY])
        task_id = await house.execute("x", models=models, intent="chat", maxDuration=0.3)
        assert (await house.ended(task_id)).status is Status.FAILED
        (cut,) = await answers(house, task_id)
        assert cut.startswith("one two ")
