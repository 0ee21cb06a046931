"""A task that was ended and goes on: what it has used, and what it must not ask for or do again."""

import asyncio
from pathlib import Path

from sidecar.engine.operations import Resume, SendMessage
from sidecar.wire.tasks import Status
from tests.support.engine import Json, engine_harness
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import SECONDS


async def test_what_was_used_before_a_restart_is_counted_once_and_in_every_round(tmp_path: Path) -> None:
    used = {"usage": {"inputTokens": 10, "outputTokens": 1}}
    script: dict[str, list[Json]] = {
        "planner": [{"text": '{"steps": [{"title": "One"}, {"title": "Two"}]}', **used}],
        "coder": [{"text": "ok", "delayMs": 60_000, **used}],
        "reviewer": [{"text": '{"passed": true}', **used}],
    }
    journal = ScratchJournal()
    async with engine_harness(tmp_path, journal) as harness:
        models = harness.script("play", script)
        task_id = await harness.execute("do it", models=models, intent="refactor_code")
        await harness.until(task_id, "step", agent="coder", state="started")
    async with engine_harness(tmp_path, journal) as harness:
        harness.script("play", {agent: [{**replies[0], "delayMs": 0}] * 2 for agent, replies in script.items()})
        task = await harness.ended(task_id)
        assert (task.usage.input_tokens, task.usage.output_tokens) == (40, 4)
        await harness.submit(SendMessage(task_id, "and now?"))
        task = await harness.ended(task_id)
        assert task.status is Status.COMPLETED, task.error
        assert task.usage.input_tokens == 80, "a task's rounds are counted together"


async def test_an_agent_at_its_limit_goes_on_when_the_task_is_resumed(tmp_path: Path) -> None:
    looks = [{"calls": [{"tool": "list_dir", "args": {"path": f"{number}"}}]} for number in range(5)]
    async with engine_harness(tmp_path) as harness:
        for number in range(5):
            (harness.workspace / f"{number}").mkdir()
        models = harness.script("play", [*looks, {"text": "I have seen it all."}])
        task_id = await harness.execute("look", models=models, intent="chat", maxIterations=3)
        task = await harness.ended(task_id)
        assert task.error is not None
        assert (task.error.code, task.error.recoverable) == ("iteration_limit", True)
        assert "resume" in task.error.message
        await harness.submit(Resume(task_id))
        async with asyncio.timeout(SECONDS):
            complete = await harness.until(task_id, "complete")
    assert complete["result"]["summary"] == "I have seen it all."


async def test_what_was_rewound_was_paid_for_all_the_same_and_takes_nothing_from_the_budget(tmp_path: Path) -> None:
    answer = {"text": "ok", "usage": {"inputTokens": 600, "outputTokens": 0}}
    async with engine_harness(tmp_path) as harness:
        models = harness.script("play", [answer])
        task_id = await harness.execute("say it", models=models, intent="chat", maxTokens=1_000)
        started = await harness.until(task_id, "step", state="started")
        await harness.ended(task_id)
        for paid in (1_200, 1_800):
            await harness.engine.review.rewind(task_id, started["seq"])
            await harness.submit(Resume(task_id))
            task = await harness.ended(task_id)
            assert task.status is Status.COMPLETED, task.error
            assert task.usage.input_tokens == paid
