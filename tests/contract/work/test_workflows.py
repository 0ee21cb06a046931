"""Plans, reviews and what becomes of bad ones, with the real engine and a journal in memory."""

import asyncio
from pathlib import Path

import pytest

from sidecar.engine.operations import Resume
from sidecar.wire.tasks import Status
from tests.support.crashing_journal import CrashingJournal
from tests.support.engine import engine_harness
from tests.support.models import recorded_requests
from tests.support.plans import FAILED, PASSED, ended, plan
from tests.waiting import SECONDS, until_true


async def test_each_step_of_a_plan_may_wait_for_the_user(tmp_path: Path) -> None:
    ask = {"calls": [{"tool": "run_command", "args": {"command": "echo hi"}}]}
    script = {
        "planner": [plan({"id": "a", "title": "A", "files": ["a"]}, {"id": "b", "title": "B", "files": ["b"]})],
        "coder": [ask, {"text": "ok"}],
        "reviewer": [PASSED],
    }
    async with engine_harness(tmp_path, slots=1) as harness:
        models = harness.script("play", script)
        task_id = await harness.execute("do it", models=models, intent="refactor_code")
        first = await harness.until(task_id, "approval", state="requested")
        answered = {first["approvalId"]}
        await harness.allow(task_id, first["approvalId"])

        async def allowed_both() -> bool:
            for event in await harness.events(task_id):
                if event["type"] == "approval" and event["approvalId"] not in answered:
                    answered.add(event["approvalId"])
                    await harness.allow(task_id, event["approvalId"])
            return len(answered) >= 2

        await until_true(allowed_both)
        task = await harness.ended(task_id)
        assert task.status is Status.COMPLETED, task.error


async def test_a_failed_step_is_resumed_and_what_was_done_is_not_done_again(tmp_path: Path) -> None:
    append = {"calls": [{"tool": "run_command", "args": {"command": "echo once >> log.txt"}}]}
    script = {
        "planner": [plan({"title": "One"}, {"title": "Two"})],
        "coder": [append, {"text": "ok"}],
        "reviewer": [{"failure": {"code": "refused", "message": "no", "retry": False}}],
    }
    async with engine_harness(tmp_path) as harness:
        task, _ = await ended(harness, script)
        assert task.status is Status.FAILED
        harness.script("play", {**script, "reviewer": [PASSED]})
        await harness.submit(Resume(task.id))
        async with asyncio.timeout(SECONDS):
            await harness.until(task.id, "complete")
        assert (harness.workspace / "log.txt").read_text() == "once\nonce\n"


WORK = {
    "planner": [
        {"text": "no plan"},
        plan(
            {"id": "a", "title": "A", "files": ["a"]},
            {"id": "b", "title": "B", "files": ["b"]},
            {"id": "c", "title": "C", "after": ["a", "b"]},
        ),
    ],
    "coder": [{"calls": [{"tool": "run_command", "args": {"command": "echo x >> log.txt"}}]}, {"text": "ok"}],
    "reviewer": [FAILED],
}


async def live(tmp_path: Path, journal: CrashingJournal, task_id: str | None) -> str:
    async with engine_harness(tmp_path, journal) as harness:
        if task_id is None:
            models = harness.script("work", WORK)
            task_id = await harness.execute("x", models=models, approvals="auto", intent="refactor_code")
        dead, over = asyncio.create_task(journal.died.wait()), asyncio.create_task(harness.ended(task_id))
        async with asyncio.timeout(SECONDS):
            await asyncio.wait((dead, over), return_when=asyncio.FIRST_COMPLETED)
        for waiting in (dead, over):
            waiting.cancel()
        await asyncio.gather(dead, over, return_exceptions=True)
        journal.left = -1
    return task_id


@pytest.mark.timeout(300)
async def test_f22_a_planned_and_reviewed_task_survives_any_cut_and_repeats_nothing(tmp_path: Path) -> None:
    """Three planned steps and two that mend: five lines, whenever the world ends in between."""
    with recorded_requests():
        for cut in [*range(3, 30, 3), *range(30, 120, 9)]:
            directory = tmp_path / f"cut{cut}"
            directory.mkdir()
            journal = CrashingJournal()
            journal.left = cut
            task_id = await live(directory, journal, None)
            journal.left, journal.died = 10**9, asyncio.Event()
            if (await journal.task(task_id)).status is not Status.COMPLETED:
                await live(directory, journal, task_id)
            task = await journal.task(task_id)
            assert task.status is Status.COMPLETED, (cut, task.error)
            lines = (directory / "workspace" / "log.txt").read_text().split()
            assert len(lines) <= 5, (cut, lines)
            events = (await journal.events(task_id, limit=10_000)).events
            unknown = sum('"status":"unknown"' in event.data for event in events)
            assert len(lines) + unknown >= 5, (cut, lines)


@pytest.mark.parametrize(("review", "reviewed"), [("auto", False), ("always", True), ("never", False)])
async def test_a_small_proven_change_is_reviewed_only_if_you_ask_for_it(
    tmp_path: Path, review: str, reviewed: bool
) -> None:
    write = {"calls": [{"tool": "write_file", "args": {"path": "a.py", "content": "x = 1\n"}}]}
    script = {"coder": [write, {"text": "I wrote a.py."}], "reviewer": [PASSED]}
    async with engine_harness(tmp_path) as harness:
        task, events = await ended(harness, script, "write a.py", intent="edit_code", review=review, verify=["true"])
    assert task.status is Status.COMPLETED
    assert ("verdict" in [event["type"] for event in events]) is reviewed
