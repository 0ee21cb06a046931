import asyncio
from pathlib import Path

import pytest

from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import Cancel
from sidecar.journal.errors import JournalClosed
from sidecar.wire.tasks import Status
from tests.support.engine import engine_harness
from tests.waiting import loop_turns, until_true


def types(events: list[dict[str, object]]) -> list[object]:
    return [event["status"] if event["type"] == "status" else event["type"] for event in events]


async def test_a_task_goes_from_queued_to_completed_with_every_stage_reported(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "hello.txt").write_text("hi")
        task = await harness.ended(await harness.execute("list the files"))
        assert task.status is Status.COMPLETED
        assert task.result is not None
        assert "hello.txt" in task.result.summary
        assert types(await harness.events(task.id)) == [
            "queued",
            "message",
            "running",
            "route",
            "step",
            "model",
            "tool",
            "tool",
            "message",
            "step",
            "usage",
            "complete",
            "completed",
        ]


async def test_what_the_offline_model_does_not_understand_fails_with_what_it_can_do(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task = await harness.ended(await harness.execute("ponder the meaning of life"))
        assert task.status is Status.FAILED
        assert task.error is not None
        assert task.error.code == "not_understood"
        assert task.error.recoverable
        assert "brain keys set" in task.error.message


async def test_agents_of_a_pipeline_hand_over_to_each_other(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("pair", {"coder": [{"text": "I changed it."}], "reviewer": [{"text": "It is fine."}]})
        task = await harness.ended(await harness.execute("change it", intent="edit_code", models=models))
        assert task.result is not None
        assert task.result.summary == "I changed it.\n\nIt is fine."
        (handoff,) = [event for event in await harness.events(task.id) if event["type"] == "handoff"]
        assert (handoff["from"], handoff["to"]) == ("coder", "reviewer")
        assert handoff["context"]["currentState"] == "I changed it."


async def test_a_file_that_was_written_is_reported_and_listed(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        write = {"tool": "write_file", "args": {"path": "a.txt", "content": "one\ntwo\n"}}
        models = harness.script("write", {"coder": [{"calls": [write]}, {"text": "ok"}], "reviewer": [{"text": "ok"}]})
        task = await harness.ended(await harness.execute("write it", intent="edit_code", models=models))
        assert (harness.workspace / "a.txt").read_text() == "one\ntwo\n"
        assert task.result is not None
        assert task.result.files_modified == ["a.txt"]
        (diff,) = [event for event in await harness.events(task.id) if event["type"] == "diff"]
        assert diff["files"] == [{"path": "a.txt", "change": "created", "added": 2, "removed": 0}]


async def test_the_same_idempotency_key_gives_the_same_task(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        first = await harness.execute("list the files", key="once")
        assert await harness.execute("list the files", key="once") == first


# -- cancel and resume -------------------------------------------------------------------------------------------------


async def test_cancel_of_an_ended_task_is_refused(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task = await harness.ended(await harness.execute("list the files"))
        with pytest.raises(OperationRefused) as refusal:
            await harness.submit(Cancel(task.id))
        assert (refusal.value.status, refusal.value.code) == (409, "task_ended")


# -- messages ----------------------------------------------------------------------------------------------------------


async def test_tasks_of_one_conversation_know_what_was_said_before(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        first = await harness.ended(await harness.execute("list the files"))
        models = harness.script("chat", [{"text": "unused"}, {"text": "second reply: the first was in the past"}])
        second = await harness.execute("and now", models=models, conversationId=first.conversation_id, intent="chat")
        task = await harness.ended(second)
        # The script plays by the number of replies in the history: the earlier task's answer is one of them.
        assert task.result is not None
        assert task.result.summary.startswith("second reply")


# -- approvals ---------------------------------------------------------------------------------------------------------


async def test_a_waiting_task_leaves_its_place_to_another(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, slots=1) as harness:
        models = harness.script(
            "ask", [{"calls": [{"tool": "run_command", "args": {"command": "echo hi"}}]}, {"text": "ok"}]
        )
        waiting = await harness.execute("x", models=models, agentType="terminal", intent="run_command")
        await harness.reached(waiting, Status.WAITING)
        other = await harness.ended(await harness.execute("list the files"))
        assert other.status is Status.COMPLETED


async def test_an_unknown_approval_is_not_found(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task = await harness.ended(await harness.execute("list the files"))
        with pytest.raises(OperationRefused) as refusal:
            await harness.allow(task.id, "nope")
        assert refusal.value.status == 404


# -- limits and failures -----------------------------------------------------------------------------------------------


async def test_a_failing_step_is_tried_three_times_and_the_tries_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.work.pipeline.FIRST_BACKOFF", 0.001)
    async with engine_harness(tmp_path) as harness:
        failure = {"failure": {"code": "overloaded", "message": "The model is overloaded."}}
        models = harness.script("fail", [failure])
        task = await harness.ended(await harness.execute("x", models=models, intent="chat"))
        assert task.status is Status.FAILED
        assert task.error is not None
        assert task.error.code == "overloaded"
        retries = [event for event in await harness.events(task.id) if event["type"] == "retry"]
        assert [(retry["attempt"], retry["of"]) for retry in retries] == [(2, 3), (3, 3)]


async def test_a_task_without_a_usable_model_says_so_and_can_be_resumed(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task = await harness.ended(await harness.execute("x", models={"smart": "nobody/knows"}, intent="chat"))
        assert task.error is not None
        assert task.error.code == "no_model"
        assert task.error.recoverable
        assert "take another model: `brain fork --model PROVIDER/NAME`" in task.error.message


async def test_a_workspace_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        for workspace, code in ((str(tmp_path / "nowhere"), "workspace_not_found"), ("here", "workspace_not_absolute")):
            with pytest.raises(OperationRefused) as refusal:
                harness.engine.admission.checked_workspace(workspace)
            assert (refusal.value.status, refusal.value.code) == (422, code)


async def test_an_engine_is_busy_from_the_moment_a_task_is_submitted(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("play", [{"text": "done"}])
        await loop_turns()
        rests: list[bool] = []
        harness.engine.call_when_idle(lambda: rests.append(harness.engine.busy))
        busy: list[bool] = []
        submitting = asyncio.create_task(harness.execute("x", models=models, intent="chat"))
        while not submitting.done():
            await loop_turns()
            busy.append(harness.engine.busy)
        assert busy[-1], "nothing says yet that there is a task, so an idle sidecar would exit"
        await harness.ended(submitting.result())
        await until_true(lambda: bool(rests) and not rests[-1])


async def test_an_engine_that_stops_takes_no_task(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("play", [{"text": "done"}])
        await harness.engine.stop()
        with pytest.raises(JournalClosed):
            await harness.execute("x", models=models, intent="chat")
