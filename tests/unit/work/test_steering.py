"""What the person says while a task is at work reaches those who can act on it, whenever it is said."""

import asyncio
from pathlib import Path

from sidecar.engine.operations import SendMessage
from sidecar.models.port import UserTurn
from sidecar.wire.tasks import HunkRequest, Status
from tests.unit.engine.house import a_house
from tests.unit.work.replies import hearing
from tests.waiting import until_true


async def test_a_message_reaches_everybody_who_works_after_it(tmp_path: Path) -> None:
    look = {"calls": [{"tool": "list_dir", "args": {}}]}
    script = {
        "planner": [{**look, "delayMs": 50}, {"text": '{"steps": [{"title": "One"}, {"title": "Two"}]}'}],
        "coder": [{"text": "ok"}],
        "reviewer": [{"text": '{"passed": true}'}],
    }
    with hearing() as requests:
        async with a_house(tmp_path) as house:
            task_id = await house.execute("do it", models=house.script("play", script), intent="refactor_code")
            await until_true(lambda: requests)
            await house.submit(SendMessage(task_id, "use tabs"))
            await house.ended(task_id)
    heard = [
        (request.agent, sum(isinstance(turn, UserTurn) and turn.text == "use tabs" for turn in request.history))
        for request in requests
    ]
    assert heard == [("planner", 0), ("planner", 1), ("coder", 1), ("coder", 1), ("reviewer", 1)]


async def test_a_message_stands_after_what_was_told_before_it(tmp_path: Path) -> None:
    with hearing() as requests:
        async with a_house(tmp_path) as house:
            models = house.script("play", [{"text": "ok", "delayMs": 50}])
            task_id = await house.execute("do it", models=models, intent="chat")
            while not requests:
                await asyncio.sleep(0)
            await house.submit(SendMessage(task_id, "use tabs"))
            await house.ended(task_id)
            told = [event["type"] for event in await house.events(task_id)]
    assert told[:6] == ["status", "message", "status", "route", "step", "model"]
    assert told[6] == "message"


async def test_a_message_during_the_review_is_a_round_of_its_own_and_the_task_does_not_end_before(
    tmp_path: Path,
) -> None:
    script = {
        "coder": [{"text": "Fixed."}],
        "reviewer": [{"text": '{"passed": true}', "delayMs": 100}],
    }
    async with a_house(tmp_path) as house:
        models = house.script("play", script)
        task_id = await house.execute("fix it", models=models, intent="edit_code")
        await house.until(task_id, "step", agent="reviewer", state="started")
        house.script(
            "play", {"coder": [{"text": "Fixed."}, {"text": "Tabs now."}], "reviewer": [{"text": "Fine."}] * 2}
        )
        await house.submit(SendMessage(task_id, "use tabs"))
        task = await house.ended(task_id)
        events = await house.events(task_id)
    assert task.status is Status.COMPLETED, task.error
    assert [event["type"] for event in events].count("complete") == 1
    assert "Tabs now." in [event.get("text") for event in events if event["type"] == "message"]
    assert [event["status"] for event in events if event["type"] == "status"] == ["queued", "running", "completed"]


async def test_what_was_taken_back_between_two_rounds_is_known_in_the_next_and_begins_none_by_itself(
    tmp_path: Path,
) -> None:
    write = {"calls": [{"tool": "write_file", "args": {"path": "a.txt", "content": "new\n"}}]}
    script = {"coder": [write, {"text": "ok"}, {"text": "I see."}], "reviewer": [{"text": "Fine."}] * 3}
    with hearing() as requests:
        async with a_house(tmp_path) as house:
            models = house.script("play", script)
            task_id = await house.execute("write it", models=models, intent="edit_code", verify="off")
            await house.ended(task_id)
            (diff,) = (await house.engine.review.diff(task_id)).files
            await house.engine.review.decide(task_id, HunkRequest(reject=[hunk.id for hunk in diff.hunks]))
            asked = len(requests)
            await house.submit(SendMessage(task_id, "and now?"))
            assert (await house.ended(task_id)).status is Status.COMPLETED
    told = [turn.text for turn in requests[asked].history if isinstance(turn, UserTurn)]
    assert told[-2] == "and now?"
    assert told[-1].startswith("I rejected these changes")
    assert [request.agent for request in requests] == ["coder", "coder", "reviewer", "coder", "reviewer"]
