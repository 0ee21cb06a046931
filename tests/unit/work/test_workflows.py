"""Plans, reviews and what becomes of bad ones, with the real engine and a journal in memory."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.engine.operations import Resume, SendMessage
from sidecar.models.port import Capabilities, Delta, Reply, Request, Stop, ToolTurn, ToolUse
from sidecar.wire.tasks import Status
from sidecar.work.router import route
from tests.sentences import all_sentences
from tests.support.engine import Json, engine_harness
from tests.support.models import recorded_requests
from tests.support.plans import FAILED, PASSED, ended, plan, steps
from tests.waiting import SECONDS

TWO = plan({"id": "1", "title": "A", "files": ["1.txt"]}, {"id": "2", "title": "B", "files": ["2.txt"]})


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


async def test_independent_steps_run_at_the_same_time_and_a_dependent_one_after_them(tmp_path: Path) -> None:
    script = {
        "planner": [
            plan(
                {"id": "a", "title": "A", "files": ["a"]},
                {"id": "b", "title": "B", "files": ["b"]},
                {"id": "c", "title": "C", "files": ["c"], "after": ["a", "b"]},
            )
        ],
        "coder": [{"text": "ok", "delayMs": 30}],
        "reviewer": [PASSED],
    }
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            task, events = await ended(harness, script)
    assert task.status is Status.COMPLETED
    order = [(event["message"], event["state"]) for event in events if event["type"] == "step"][2:8]
    assert sorted(order[:2]) == [("A", "started"), ("B", "started")]
    assert sorted(order[2:4]) == [("A", "completed"), ("B", "completed")]
    assert order[4:] == [("C", "started"), ("C", "completed")]
    asked = [request.history[-1].text for request in requests if request.agent == "coder"]  # type: ignore[union-attr]
    assert "Your part is step a: A" in asked[0]
    assert "What was done so far" not in asked[1]
    assert "What was done so far" in asked[2]


class Uneven:
    """Plans two steps that run at the same time, of which the first takes longer; each writes its file."""

    provider, name, capabilities = "somebody", "uneven", Capabilities()

    def __init__(self) -> None:
        self._second_is_done = asyncio.Event()

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        step = "1" if "Your part is step 1" in str(request.history) else "2"
        calls: list[ToolUse] = []
        if request.agent != "coder":
            text = TWO["text"] if request.agent == "planner" else PASSED["text"]
        elif isinstance(request.history[-1], ToolTurn):
            text = f"I wrote {step}."
            if step == "2":
                self._second_is_done.set()
        else:
            if step == "1":
                await self._second_is_done.wait()
            text, calls = "", [ToolUse(id="c", tool="write_file", args={"path": f"{step}.txt", "content": "x"})]
        yield Reply(text=text, calls=calls, stop=Stop.TOOL_USE if calls else Stop.END)


async def test_whoever_is_the_last_of_a_plan_hands_over_what_all_of_them_did(tmp_path: Path) -> None:
    model = Uneven()
    async with engine_harness(tmp_path) as harness:
        harness.catalog.model_for = lambda *_: model  # type: ignore[method-assign]
        task = await harness.ended(
            await harness.execute("do it", intent="refactor_code", approvals="auto", verify="off")
        )
        events = await harness.events(task.id)
    told = [(event["type"], event.get("message"), event.get("state")) for event in events]
    assert told.index(("step", "B", "completed")) < told.index(("step", "A", "completed"))
    (handoff,) = [event for event in events if event["type"] == "handoff" and event["from"] == "coder"]
    assert told.index(("step", "A", "completed")) < events.index(handoff)
    assert handoff["context"] == {
        "filesModified": ["1.txt", "2.txt"],
        "currentState": "A: I wrote 1.\nB: I wrote 2.",
        "remainingTasks": ["Review the changes"],
    }
    assert task.result is not None
    assert task.result.summary.startswith("I wrote 1.\n\nI wrote 2.\n\n")


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
    assert "planner said:\nHm." in asked


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


async def test_a_reviewer_that_answers_in_prose_sends_nobody_back(tmp_path: Path) -> None:
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


# -- every cut ---------------------------------------------------------------------------------------------------------


# -- the window --------------------------------------------------------------------------------------------------------


async def test_what_no_longer_fits_is_told_and_a_resumed_task_sends_the_same(
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
    assert any("don't fit" in event.get("reason", "") for event in events if event["type"] == "model")


# -- a language model for what the words leave open --------------------------------------------------------------------


def _sureness(sentence: str) -> float:
    return route(sentence).confidence


class Knowing:
    """A language model, as far as the router can see."""

    provider, name, capabilities = "somebody", "small", Capabilities()

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        self.asked.append(request.agent)
        yield Reply(text="edit_code" if request.agent == "router" else "Done.", stop=Stop.END)


@pytest.mark.parametrize("asks", [True, False])
async def test_a_language_model_routes_only_what_the_words_leave_open(tmp_path: Path, asks: bool) -> None:
    model = Knowing()
    task = min((sentence for _, sentence in all_sentences("unseen")), key=_sureness) if asks else "fix the bug"
    async with engine_harness(tmp_path) as harness:
        harness.catalog.model_for = lambda *_: model  # type: ignore[method-assign]
        done = await harness.ended(await harness.execute(task))
        (routed,) = [event for event in await harness.events(done.id) if event["type"] == "route"]
    assert (done.intent, done.status) == ("edit_code", Status.COMPLETED)
    assert ("router" in model.asked) is asks
    assert ("somebody/small" in routed["why"]) is asks
