"""What the person says while a task is at work reaches those who can act on it, whenever it is said."""

from pathlib import Path

from sidecar.engine.operations import SendMessage
from sidecar.models.port import UserTurn
from sidecar.wire.tasks import HunkRequest, Status
from tests.support.engine import engine_harness
from tests.support.models import recorded_requests
from tests.waiting import loop_turns, until_true


async def test_a_message_reaches_everybody_who_works_after_it(tmp_path: Path) -> None:
    look = {"calls": [{"tool": "list_dir", "args": {}}]}
    script = {
        "planner": [{**look, "delayMs": 50}, {"text": '{"steps": [{"title": "One"}, {"title": "Two"}]}'}],
        "coder": [{"text": "ok"}],
        "reviewer": [{"text": '{"passed": true}'}],
    }
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            task_id = await harness.execute("do it", models=harness.script("play", script), intent="refactor_code")
            await until_true(lambda: requests)
            await harness.submit(SendMessage(task_id, "use tabs"))
            await harness.ended(task_id)
    heard = [
        (request.agent, sum(isinstance(turn, UserTurn) and turn.text == "use tabs" for turn in request.history))
        for request in requests
    ]
    assert heard == [("planner", 0), ("planner", 1), ("coder", 1), ("coder", 1), ("reviewer", 1)]


async def test_a_message_comes_after_what_was_said_before_it(tmp_path: Path) -> None:
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            models = harness.script("play", [{"text": "ok", "delayMs": 50}])
            task_id = await harness.execute("do it", models=models, intent="chat")
            while not requests:
                await loop_turns()
            await harness.submit(SendMessage(task_id, "use tabs"))
            await harness.ended(task_id)
            told = [event["type"] for event in await harness.events(task_id)]
    assert told[:6] == ["status", "message", "status", "route", "step", "model"]
    assert told[6] == "message"


async def test_a_message_during_the_review_is_a_round_of_its_own_and_the_task_does_not_end_before(
    tmp_path: Path,
) -> None:
    script = {
        "coder": [{"text": "Here you are."}],
        "reviewer": [{"text": '{"passed": true}', "delayMs": 100}],
    }
    async with engine_harness(tmp_path) as harness:
        models = harness.script("play", script)
        task_id = await harness.execute("fix it", models=models, intent="edit_code")
        await harness.until(task_id, "step", agent="reviewer", state="started")
        harness.script(
            "play", {"coder": [{"text": "Here you are."}, {"text": "Tabs now."}], "reviewer": [{"text": "Fine."}] * 2}
        )
        await harness.submit(SendMessage(task_id, "use tabs"))
        task = await harness.ended(task_id)
        events = await harness.events(task_id)
    assert task.status is Status.COMPLETED, task.error
    assert [event["type"] for event in events].count("complete") == 1
    assert "Tabs now." in [event.get("text") for event in events if event["type"] == "message"]
    assert [event["status"] for event in events if event["type"] == "status"] == ["queued", "running", "completed"]


async def test_what_was_undone_between_two_rounds_is_known_in_the_next_and_begins_none_by_itself(
    tmp_path: Path,
) -> None:
    write = {"calls": [{"tool": "write_file", "args": {"path": "a.txt", "content": "new\n"}}]}
    script = {"coder": [write, {"text": "ok"}, {"text": "I see."}], "reviewer": [{"text": "Fine."}] * 3}
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            models = harness.script("play", script)
            task_id = await harness.execute("write it", models=models, intent="edit_code", verify="off")
            await harness.ended(task_id)
            (diff,) = (await harness.engine.review.diff(task_id)).files
            await harness.engine.review.decide(task_id, HunkRequest(reject=[hunk.id for hunk in diff.hunks]))
            asked = len(requests)
            await harness.submit(SendMessage(task_id, "and now?"))
            assert (await harness.ended(task_id)).status is Status.COMPLETED
    told = [turn.text for turn in requests[asked].history if isinstance(turn, UserTurn)]
    assert told[-2] == "and now?"
    assert told[-1].startswith("I rejected these changes")
    assert [request.agent for request in requests] == ["coder", "coder", "reviewer", "coder", "reviewer"]
