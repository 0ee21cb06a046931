"""What becomes of a crew's plan, its parts and its tree when they fail, are cancelled, or need you."""

import asyncio
import json
from pathlib import Path
from typing import Any

from sidecar.engine.operations import Cancel, Resume, SendMessage
from sidecar.wire.tasks import ENDED, Status, Task
from tests.support.crew import Json, make_repository, part, propose, write
from tests.support.engine import EngineHarness, engine_harness
from tests.waiting import SECONDS

APPROVE: Json = {"calls": [{"tool": "review_plan", "args": {"approved": True}}]}


def crew_of(*parts: Json, **agents: object) -> Json:
    return {"strategist": [propose(*parts)], "architect": [APPROVE], **agents}


async def start(harness: EngineHarness, script: object, **options: Any) -> str:
    chosen = {"approvals": "auto", "verify": "off", "isolation": "worktree", **options}
    return await harness.execute("build it", models=harness.script("crew", script), crew=True, **chosen)


async def children(harness: EngineHarness, parent: str) -> list[Task]:
    return [task for task in await harness.journal.tasks(limit=100) if task.parent == parent]


async def first_child(harness: EngineHarness, parent: str) -> Task:
    async with asyncio.timeout(SECONDS):
        async for _ in harness.engine.events(parent):
            if found := await children(harness, parent):
                return found[0]
    raise AssertionError("the crew ended without a part")


def prepared(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    make_repository(tmp_path / "workspace")
    return tmp_path


async def test_a_plan_that_cannot_work_goes_back_to_the_strategist_and_prose_is_no_plan(tmp_path: Path) -> None:
    wrong = propose(part("one", "nobody", ["a.txt"], []))
    right = propose(part("one", "coder", ["a.txt"], []))
    script = {
        "strategist": [wrong, {"text": "1. write a.txt"}, right],
        "architect": [APPROVE],
        "coder": [write("a.txt", "a\n"), {"text": "done"}],
    }
    async with engine_harness(prepared(tmp_path), crews=True) as harness:
        task = await harness.ended(await start(harness, script))
        assert task.status is Status.COMPLETED, task.error
        assert task.worktree is not None
        assert Path(task.worktree, "a.txt").read_text() == "a\n"


async def test_a_plan_that_the_architect_never_approves_needs_you_and_no_one_works_on_it(tmp_path: Path) -> None:
    proposal = propose(part("one", "coder", ["a.txt"], []))
    reject = {"calls": [{"tool": "review_plan", "args": {"approved": False, "issues": ["no migration"]}}]}
    script = {"strategist": [proposal], "architect": [reject]}
    async with engine_harness(prepared(tmp_path), crews=True) as harness:
        task = await harness.ended(await start(harness, script))
        assert task.status is Status.ESCALATED
        assert task.error is not None
        assert "no migration" in task.error.message
        assert await children(harness, task.id) == []


async def test_a_part_that_fails_three_times_needs_you_and_your_message_reaches_its_next_attempt(
    tmp_path: Path,
) -> None:
    good, bad = part("good", "coder", ["a.txt"], []), part("bad", "qa", ["b.txt"], ["test -f b.txt"])
    script = crew_of(
        good,
        bad,
        part("last", "docs", ["c.txt"], [], ["bad"]),
        coder=[write("a.txt", "a\n"), {"text": "done"}],
        qa=[{"text": "I did nothing."}] * 3,
        docs=[write("c.txt", "c\n"), {"text": "done"}],
    )
    async with engine_harness(prepared(tmp_path), crews=True) as harness:
        task_id = await start(harness, script, verify="auto")
        task = await harness.ended(task_id)
        assert task.status is Status.ESCALATED
        assert task.error is not None
        assert "1 of 3 parts are merged" in task.error.message
        tried = [child for child in await children(harness, task_id) if "b.txt" in child.task]
        assert len(tried) == 3
        assert "Attempt 2 failed" in tried[0].task
        harness.script("crew", {**script, "qa": [write("b.txt", "b\n"), {"text": "done"}]})
        await harness.submit(SendMessage(task_id, "Write one line into it."))
        task = await harness.ended(task_id)
        assert task.status is Status.COMPLETED, task.error
        assert task.result is not None
        assert task.result.subtasks is not None
        assert [each.state for each in task.result.subtasks] == ["done", "done", "done"]
        newest = next(child for child in await children(harness, task_id) if "b.txt" in child.task)
        assert "Write one line into it." in newest.task
        assert len([child for child in await children(harness, task_id) if "a.txt" in child.task]) == 1


async def test_cancel_and_resume_act_on_the_whole_tree(tmp_path: Path) -> None:
    slow = {"calls": [{"tool": "run_command", "args": {"command": "sleep 60"}}]}
    script = crew_of(
        part("one", "coder", ["a.txt"], []),
        part("two", "qa", ["b.txt"], []),
        coder=[write("a.txt", "a\n"), slow, {"text": "done"}],
        qa=[write("b.txt", "b\n"), slow, {"text": "done"}],
    )
    async with engine_harness(prepared(tmp_path), crews=True, slots=1) as harness:
        task_id = await start(harness, script, workers=1)
        found = await first_child(harness, task_id)
        await harness.until(found.id, "tool", tool="run_command", status="running")
        await harness.submit(Cancel(task_id))
        assert (await harness.ended(task_id)).status is Status.CANCELLED
        assert [each.status for each in await children(harness, task_id)] == [Status.CANCELLED]
        quick = [write("b.txt", "b\n"), {"text": "done"}]
        harness.script("crew", {**script, "coder": [*script["coder"][:2], {"text": "done"}], "qa": quick})
        await harness.submit(Resume(task_id))
        task = await harness.ended(task_id)
        assert task.status is Status.COMPLETED, task.error
        assert all(each.status in ENDED for each in await children(harness, task_id))
        assert task.worktree is not None
        assert Path(task.worktree, "b.txt").exists()


async def test_a_part_that_you_cancel_needs_you_and_is_not_tried_again_by_itself(tmp_path: Path) -> None:
    slow = {"calls": [{"tool": "run_command", "args": {"command": "sleep 60"}}]}
    script = crew_of(part("one", "coder", ["a.txt"], []), coder=[slow, {"text": "done"}])
    async with engine_harness(prepared(tmp_path), crews=True) as harness:
        task_id = await start(harness, script)
        found = await first_child(harness, task_id)
        await harness.until(found.id, "tool", tool="run_command", status="running")
        await harness.submit(Cancel(found.id))
        task = await harness.ended(task_id)
        assert task.status is Status.ESCALATED
        assert len(await children(harness, task_id)) == 1


async def test_a_plans_check_is_a_models_word_and_asks_like_one(tmp_path: Path) -> None:
    script = crew_of(
        part("one", "coder", ["a.txt"], ["touch planted"]), coder=[write("a.txt", "a\n"), {"text": "done"}]
    )
    async with engine_harness(prepared(tmp_path), crews=True) as harness:
        task_id = await start(harness, script, approvals="ask", verify="auto")
        found = await first_child(harness, task_id)
        asked = await harness.until(found.id, "approval", state="requested")
        assert asked["argv"] is None or "planted" in str(asked)
        await harness.submit(Cancel(task_id))
        await harness.ended(task_id)


async def test_a_crew_without_a_language_model_says_so_and_starts_nothing(tmp_path: Path) -> None:
    async with engine_harness(prepared(tmp_path), crews=True) as harness:
        models = dict.fromkeys(("fast", "smart", "instant"), "offline/builtin")
        task_id = await harness.execute("build it", models=models, crew=True, isolation="worktree")
        task = await harness.ended(task_id)
        assert task.status is Status.FAILED
        assert task.error is not None
        assert task.error.code == "no_model"


STEPS = [
    {"id": "1", "title": "Write a", "files": ["a.txt"]},
    {"id": "2", "title": "Write b", "files": ["b.txt"]},
    {"id": "3", "title": "Write c", "files": ["c.txt"], "after": ["1"]},
]


def planned(harness: EngineHarness) -> Json:
    """Each worker writes all that is missing, so that it doesn't matter who does what."""
    command = "test -f a.txt || echo a > a.txt; test -f b.txt || echo b > b.txt; test -f c.txt || echo c > c.txt"
    work = [{"calls": [{"tool": "run_command", "args": {"command": command}}]}, {"text": "done"}]
    planner = [{"text": json.dumps({"steps": STEPS})}]
    return harness.script("planned", {"planner": planner, "coder": work, "reviewer": [{"text": "fine"}]})


async def test_steps_of_a_plan_with_their_own_files_run_at_the_same_time_and_are_verified_together(
    tmp_path: Path,
) -> None:
    async with engine_harness(prepared(tmp_path), crews=True) as harness:
        options: Json = {"intent": "refactor_code", "approvals": "auto", "review": "never"}
        check = "test -f a.txt -a -f b.txt -a -f c.txt"
        task_id = await harness.execute("split it", models=planned(harness), workers=2, verify=[check], **options)
        task = await harness.ended(task_id)
        assert task.status is Status.COMPLETED, task.error
        assert task.verified is True
        assert len(await children(harness, task_id)) == 3
        assert (harness.workspace / "c.txt").read_text() == "c\n"
        checks = [event for event in await harness.events(task_id) if event["type"] == "verification"]
        assert len(checks) == 1


async def test_without_a_choice_or_a_repository_one_worker_does_a_plan_in_order(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, crews=True) as harness:
        options: Json = {"intent": "refactor_code", "approvals": "auto", "review": "never", "verify": "off"}
        for workers in ({}, {"workers": 2}):
            task_id = await harness.execute("split it", models=planned(harness), **options, **workers)
            task = await harness.ended(task_id)
            assert task.status is Status.COMPLETED, task.error
            assert await children(harness, task_id) == []
