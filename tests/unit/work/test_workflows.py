"""Plans, reviews and what becomes of bad ones, with the real engine and a journal in memory."""

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sidecar.engine.operations import Resume, SendMessage
from sidecar.memory.notes import Notes
from sidecar.memory.past import Past
from sidecar.models.port import ToolTurn, UserTurn
from sidecar.wire.tasks import Status
from sidecar.work.knowledge import Knowledge
from tests.support.engine import Json, engine_harness
from tests.support.models import recorded_requests
from tests.support.plans import FAILED, PASSED, ended, plan, steps
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import SECONDS

# -- plans -------------------------------------------------------------------------------------------------------------


async def test_a_plan_is_shown_as_progress_with_its_real_total(tmp_path: Path) -> None:
    script = {
        "planner": [plan({"id": "a", "title": "Write a"}, {"id": "b", "title": "Write b", "after": ["a"]})],
        "coder": [{"text": "ok"}],
        "reviewer": [PASSED],
    }
    async with engine_harness(tmp_path) as harness:
        task, events = await ended(harness, script)
    assert task.status is Status.COMPLETED
    assert [(number, agent, message) for number, _, agent, message in steps(events)][1:3] == [
        (2, "coder", "Write a"),
        (3, "coder", "Write b"),
    ]
    assert steps(events)[-1][:2] == (4, 4)
    handoff = next(event for event in events if event["type"] == "handoff")
    assert handoff["context"]["remainingTasks"] == ["Write a", "Write b"]


async def test_the_steps_of_a_plan_are_done_in_order_in_one_conversation(tmp_path: Path) -> None:
    look = {"calls": [{"tool": "list_dir", "args": {}}]}
    script = {
        "planner": [look, plan({"id": "b", "title": "B", "after": ["a"]}, {"id": "a", "title": "A", "files": ["a"]})],
        "coder": [look, {"text": "ok"}],
        "reviewer": [PASSED],
    }
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            task, events = await ended(harness, script)
    assert task.status is Status.COMPLETED
    order = [(event["message"], event["state"]) for event in events if event["type"] == "step"][2:6]
    assert order == [("A", "started"), ("A", "completed"), ("B", "started"), ("B", "completed")]
    asked = [request for request in requests if request.agent in ("planner", "coder")]
    for one, following in pairwise(asked):
        assert following.history[: len(one.history)] == one.history, "everything before is what it was"
        assert (following.system, following.tools) == (one.system, one.tools)
    assert "Now do step a: A. Files: a." in str(asked[2].history[-1])


async def test_a_planner_reads_similar_tasks_of_the_past_and_a_coder_does_not(tmp_path: Path) -> None:
    journal = ScratchJournal()
    knowledge = Knowledge(past=Past(journal, Notes(tmp_path)))
    script = {"planner": [plan({"id": "a", "title": "A"})], "coder": [{"text": "Moved the parser to grammar.py."}]}
    asked = "restructure the configuration parser into a package of modules"
    with recorded_requests() as requests:
        async with engine_harness(tmp_path, journal, knowledge=knowledge) as harness:
            first, _ = await ended(harness, script, asked, review="never")
            await ended(harness, script, "draw a picture of a boat", review="never")
            await ended(harness, script, f"{asked}, again", review="never")
    told = [str(request.history) for request in requests if request.agent == "planner"]
    assert ["Similar tasks of the past" in text for text in told] == [False, False, True]
    assert first.id in told[2] and "Moved the parser to grammar.py." in told[2] and "boat" not in told[2]


async def test_a_step_that_was_done_along_the_way_is_not_asked_for(tmp_path: Path) -> None:
    items = [{"title": "A", "state": "done"}, {"title": "B", "state": "done"}, {"title": "C", "state": "pending"}]
    script = {
        "planner": [plan({"id": "1", "title": "A"}, {"id": "2", "title": "B"}, {"id": "3", "title": "C"})],
        "coder": [{"calls": [{"tool": "todo", "args": {"items": items}}]}, {"text": "Did A and B."}],
    }
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            task, events = await ended(harness, script, review="never")
    assert task.status is Status.COMPLETED, task.error
    asked = [request.history[-1].text for request in requests if isinstance(request.history[-1], UserTurn)]
    assert [text.partition(".")[0] for text in asked[1:]] == ["Now do step 1: A", "Now do step 3: C"]
    last = [event for event in events if event["type"] == "plan"][-1]
    assert [item["state"] for item in last["items"]] == ["done", "done", "done"]


async def test_the_reviewer_gets_task_evidence_and_diff_in_one_request(tmp_path: Path) -> None:
    write = {"calls": [{"tool": "write_file", "args": {"path": "a.py", "content": "x = 1\n"}}]}
    script = {"coder": [write, {"text": "I wrote a.py."}], "reviewer": [PASSED]}
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            task, events = await ended(harness, script, "write a.py", intent="edit_code")
    assert task.status is Status.COMPLETED
    (asked,) = [request for request in requests if request.agent == "reviewer"]
    (turn,) = asked.history
    for part in ("The request:\nwrite a.py", "Checks, which ran after the last edit", "+++ b/a.py", "+x = 1"):
        assert part in turn.text  # type: ignore[union-attr]
    order = [event["agent"] for event in events if event["type"] == "step" and event["state"] == "started"]
    assert order == ["coder", "verify", "reviewer"], "proof comes before opinion"


async def test_a_fix_after_a_review_goes_on_with_the_coders_conversation_also_after_a_kill(tmp_path: Path) -> None:
    write = {"calls": [{"tool": "write_file", "args": {"path": "a.txt", "content": "x\n"}}]}
    refusal = {"failure": {"code": "refused", "message": "no", "retry": False}}
    script = {"coder": [write, {"text": "Done."}], "reviewer": [FAILED]}
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            task, _ = await ended(harness, {**script, "coder": [write, {"text": "Done."}]}, intent="edit_code")
    fixes = [request for request in requests if request.agent == "coder"]
    assert fixes[2].history[: len(fixes[1].history)] == fixes[1].history
    assert "a.py:3: wrong" in fixes[2].history[-1].text  # type: ignore[union-attr]
    assert task.status is Status.COMPLETED
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            task, _ = await ended(harness, {**script, "reviewer": [refusal]}, intent="edit_code")
            assert task.status is Status.FAILED
            harness.script("play", script)
            await harness.submit(Resume(task.id))
            await harness.ended(task.id)
    resumed = [request for request in requests if request.agent == "coder"]
    assert resumed[2].history[: len(resumed[1].history)] == resumed[1].history, "rebuilt from the records"


async def test_a_follow_up_carries_the_tool_results_of_the_round_before(tmp_path: Path) -> None:
    look = {"calls": [{"tool": "read_file", "args": {"path": "a.txt"}}]}
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "a.txt").write_text("forty-two\n")
        with recorded_requests() as requests:
            task, _ = await ended(harness, [look, {"text": "I read it."}], "what is in a.txt?", intent="chat")
            harness.script("play", [look, {"text": "It says 42."}])
            await harness.submit(SendMessage(task.id, "so?"))
            await harness.ended(task.id)
    before, after = requests[1].history, requests[-1].history
    assert after[: len(before)] == before, "the same prefix, so that a provider's cache knows it"
    assert isinstance(after[-1], UserTurn)
    assert after[-1].text == "so?"


async def test_what_remains_gets_less_from_one_handing_over_to_the_next(tmp_path: Path) -> None:
    script = {"planner": [plan({"title": "Write it"})], "reviewer": [PASSED], "*": [{"text": "ok"}]}
    async with engine_harness(tmp_path) as harness:
        _, events = await ended(harness, script, intent="create_project")
    remaining = [event["context"]["remainingTasks"] for event in events if event["type"] == "handoff"]
    last = ["Install", "Configure", "Test", "Review the changes", "Document"]
    assert remaining == [["Write it"], *(last[place:] for place in range(5))]


async def test_a_plan_that_is_not_a_plan_is_asked_for_once_more(tmp_path: Path) -> None:
    script = {
        "planner": [{"text": '{"steps": []}'}, plan({"title": "One"}, {"title": "Two"})],
        "coder": [{"text": "ok"}],
        "reviewer": [PASSED],
    }
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            _, events = await ended(harness, script)
    assert [message for *_, message in steps(events)][1:3] == ["One", "Two"]
    assert "it has no steps" in requests[1].history[-1].text  # type: ignore[union-attr]


@pytest.mark.parametrize("planner", [[{"text": "Hm."}], [{"text": "Hm."}, {"text": "Still no plan."}]])
async def test_without_a_plan_the_work_is_one_step_with_what_the_planner_said(tmp_path: Path, planner: Any) -> None:
    script = {"planner": planner, "coder": [{"text": "ok"}], "reviewer": [PASSED]}
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            task, events = await ended(harness, script)
    assert task.status is Status.COMPLETED
    assert [agent for _, _, agent, _ in steps(events)] == ["planner", "coder", "reviewer"]
    (asked,) = [request.history[-1].text for request in requests if request.agent == "coder"]  # type: ignore[union-attr]
    assert asked.startswith("Now carry out the plan")
    said = [turn.text for request in requests if request.agent == "coder" for turn in request.history]  # type: ignore[union-attr]
    assert "Hm." in said, "it reads what the planner said in the conversation"


# -- reviews -----------------------------------------------------------------------------------------------------------


async def test_a_verdict_that_finds_fault_sends_the_coder_back_with_what_is_wrong(tmp_path: Path) -> None:
    script = {"coder": [{"text": "ok"}], "reviewer": [FAILED]}
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            task, events = await ended(harness, script, intent="edit_code")
    assert task.status is Status.COMPLETED
    worked = [agent for _, _, agent, _ in steps(events)]
    assert worked == ["coder", "reviewer", "coder", "reviewer", "coder", "reviewer"], "at most twice"
    back = [event for event in events if event["type"] == "handoff" and event["to"] == "coder"]
    assert [event["context"]["remainingTasks"] for event in back] == [["error: a.py:3: wrong"]] * 2
    assert "sent back 2 of 2" in back[1]["reason"]
    assert "a.py:3: wrong" in requests[2].history[-1].text  # type: ignore[union-attr]
    assert task.result is not None
    assert "a.py:3: wrong" in task.result.summary


async def test_a_verdict_that_cannot_be_read_is_asked_for_once_more(tmp_path: Path) -> None:
    broken = {"text": '```json\n{"passed": false, "issues": [{"mess'}
    script = {"coder": [{"text": "ok"}], "reviewer": [broken, FAILED]}
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            _, events = await ended(harness, script, intent="edit_code")
            assert any(event["type"] == "handoff" and event["to"] == "coder" for event in events)
            task, events = await ended(harness, {**script, "reviewer": [broken]}, intent="edit_code")
    assert "can't be parsed" in requests[2].history[-1].text  # type: ignore[union-attr]
    assert task.status is Status.COMPLETED, "where none comes, nobody is sent back"
    assert len(steps(events)) == 2


async def test_a_reviewer_that_answers_in_prose_sends_no_one_back(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task, events = await ended(
            harness, {"coder": [{"text": "ok"}], "reviewer": [{"text": "No good."}]}, intent="edit_code"
        )
    assert len(steps(events)) == 2
    assert task.result is not None
    assert task.result.summary == "ok\n\nNo good.", "what was done is said, too"


# -- what goes wrong ---------------------------------------------------------------------------------------------------


async def test_a_planner_without_a_model_fails_clearly_and_can_be_resumed(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task = await harness.ended(await harness.execute("x", models={"fast": "nobody/knows"}, intent="refactor_code"))
        assert task.error is not None
        assert (task.error.code, task.error.recoverable) == ("no_model", True)


async def test_a_refusal_ends_the_task_in_its_own_words_without_trying_again(tmp_path: Path) -> None:
    refusal = {"failure": {"code": "refused", "message": "I will not do that.", "retry": False}}
    async with engine_harness(tmp_path) as harness:
        task, events = await ended(harness, [refusal])
    assert task.error is not None
    assert (task.error.code, task.error.message) == ("refused", "I will not do that.")
    assert not [event for event in events if event["type"] == "retry"]


async def test_empty_replies_end_the_task_with_what_to_do(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task, _ = await ended(harness, [{"text": ""}] * 5, intent="chat")
    assert task.error is not None
    assert task.error.code == "empty_reply"
    assert "another model" in task.error.message


async def test_f20_the_same_call_again_and_again_is_stopped_and_a_message_lets_it_go_on(tmp_path: Path) -> None:
    look = {"calls": [{"tool": "list_dir", "args": {}}]}
    async with engine_harness(tmp_path) as harness:
        task, events = await ended(harness, [*[look] * 5, {"text": "I see."}], intent="chat")
        assert task.status is Status.FAILED
        assert task.error is not None
        assert (task.error.code, task.error.recoverable) == ("repetition", True)
        assert len([event for event in events if event["type"] == "tool" and event["status"] == "success"]) == 5
        await harness.submit(SendMessage(task.id, "look elsewhere"))
        async with asyncio.timeout(SECONDS):
            await harness.until(task.id, "complete")


async def test_a_spent_budget_ends_the_task(tmp_path: Path) -> None:
    look = {"calls": [{"tool": "list_dir", "args": {}}], "usage": {"inputTokens": 600, "outputTokens": 600}}
    async with engine_harness(tmp_path) as harness:
        task, _ = await ended(harness, [look, {"text": "never said"}], intent="chat", maxTokens=1_000)
    assert task.error is not None
    assert (task.error.code, task.usage.input_tokens) == ("budget_exceeded", 600)


async def test_usage_says_how_long_the_conversation_is_now_not_what_it_cost_in_all(tmp_path: Path) -> None:
    look = {"calls": [{"tool": "list_dir", "args": {}}], "usage": {"inputTokens": 600, "outputTokens": 50}}
    async with engine_harness(tmp_path) as harness:
        said = {"text": "done", "usage": {"inputTokens": 700, "outputTokens": 10}}
        _, events = await ended(harness, [look, said], intent="chat")
    lengths = [(event["inputTokens"], event.get("contextTokens")) for event in events if event["type"] == "usage"]
    assert lengths[:2] == [(600, 650), (1_300, 710)]


# -- every cut ---------------------------------------------------------------------------------------------------------


# -- the window --------------------------------------------------------------------------------------------------------


async def test_what_no_longer_fits_is_reported_and_a_resumed_task_sends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.work.compaction._DEFAULT_WINDOW", 20_000)
    looks = [{"calls": [{"tool": "read_file", "args": {"path": f"{number}.txt"}}]} for number in range(12)]
    script: list[Json] = [*looks, {"failure": {"code": "refused", "message": "no", "retry": False}}]
    async with engine_harness(tmp_path) as harness:
        for number in range(12):
            (harness.workspace / f"{number}.txt").write_text(f"{number} words\n" * 1_000)
        with recorded_requests() as requests:
            task, events = await ended(harness, script, intent="chat")
            before = requests[-1].history
        left_out = [event["reason"] for event in events if event["type"] == "model" and "reason" in event]
        assert left_out
        assert "earlier result" in left_out[0]
        records = await harness.journal.records(task.id)
        assert sum("0 words" in record.body for record in records) >= 1, "what was left out can be found"
        harness.script("play", [*looks, {"text": "done"}])
        with recorded_requests() as requests:
            await harness.submit(Resume(task.id))
            async with asyncio.timeout(SECONDS):
                await harness.until(task.id, "complete")
        assert requests[0].history == before


async def test_a_resumed_task_recalls_the_same_though_its_server_has_not_told_its_size_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.work.compaction._DEFAULT_WINDOW", 20_000)
    looks = [{"calls": [{"tool": "read_file", "args": {"path": f"{number}.txt"}}]} for number in range(6)]
    recall = {"calls": [{"tool": "recall", "args": {"query": "0 words"}}]}
    refusal = {"failure": {"code": "refused", "message": "no", "retry": False}}
    async with engine_harness(tmp_path) as harness:
        for number in range(6):
            (harness.workspace / f"{number}.txt").write_text(f"{number} words\n" * 1_000)
        with recorded_requests() as requests:
            task, _ = await ended(harness, [*looks, recall, refusal], intent="chat")
            before = requests[-1].history
        monkeypatch.setattr("sidecar.work.compaction._DEFAULT_WINDOW", 200_000)
        harness.script("play", [*looks, recall, {"text": "done"}])
        with recorded_requests() as requests:
            await harness.submit(Resume(task.id))
            async with asyncio.timeout(SECONDS):
                await harness.until(task.id, "complete")
    assert requests[0].history[-1] == before[-1]
    assert isinstance(before[-1], ToolTurn)
    assert "read_file 0.txt:" in before[-1].returns[0].content


async def test_a_review_that_comes_to_no_end_does_not_spoil_the_work(tmp_path: Path) -> None:
    look = {"calls": [{"tool": "list_dir", "args": {}}]}
    async with engine_harness(tmp_path) as harness:
        task, _ = await ended(harness, {"coder": [{"text": "Fixed."}], "reviewer": [look] * 9}, intent="edit_code")
    assert task.status is Status.COMPLETED
    assert task.result is not None
    assert task.result.summary.startswith("Fixed.\n\nNot finished: ")


async def test_a_conversation_too_long_for_the_window_keeps_its_newest_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.work.compaction._DEFAULT_WINDOW", 8_000)
    async with engine_harness(tmp_path) as harness:
        first, _ = await ended(harness, [{"text": "old " * 1_500}], "the oldest question", intent="chat")
        conversation = first.conversation_id
        await ended(harness, [{"text": "newer"}] * 3, "a newer question", intent="chat", conversationId=conversation)
        with recorded_requests() as requests:
            _, events = await ended(
                harness, [{"text": "newest"}] * 3, "the newest question", intent="chat", conversationId=conversation
            )
    texts = [turn.text for turn in requests[0].history]  # type: ignore[union-attr]
    assert "the oldest question" not in texts
    assert "a newer question" in texts
    assert any("the context window is full" in event.get("reason", "") for event in events if event["type"] == "model")
