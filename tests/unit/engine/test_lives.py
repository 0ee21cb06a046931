"""A task that was ended and goes on: what it has used, and what it must not ask for or do again."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from sidecar.engine.operations import Resume, SendMessage
from sidecar.journal.memory import MemoryJournal
from sidecar.models.port import Capabilities, Delta, ModelTurn, Reply, Request, Stop, ToolUse
from sidecar.wire.tasks import Status
from tests.unit.engine.house import Json, a_house


async def test_what_was_used_before_a_restart_is_counted_once_and_in_every_round(tmp_path: Path) -> None:
    used = {"usage": {"inputTokens": 10, "outputTokens": 1}}
    script: dict[str, list[Json]] = {
        "planner": [{"text": '{"steps": [{"title": "One"}, {"title": "Two"}]}', **used}],
        "coder": [{"text": "ok", "delayMs": 60_000, **used}],
        "reviewer": [{"text": '{"passed": true}', **used}],
    }
    journal = MemoryJournal()
    async with a_house(tmp_path, journal) as house:
        models = house.script("play", script)
        task_id = await house.execute("do it", models=models, intent="refactor_code")
        await house.until(task_id, "step", agent="coder", state="started")
    async with a_house(tmp_path, journal) as house:
        house.script("play", {agent: [{**replies[0], "delayMs": 0}] * 2 for agent, replies in script.items()})
        task = await house.ended(task_id)
        assert (task.usage.input_tokens, task.usage.output_tokens) == (40, 4)
        await house.submit(SendMessage(task_id, "and now?"))
        task = await house.ended(task_id)
        assert task.status is Status.COMPLETED, task.error
        assert task.usage.input_tokens == 80, "a task's rounds are counted together"


async def test_a_reply_that_was_cut_off_is_not_asked_for_again_after_a_restart(tmp_path: Path) -> None:
    """Else what was done after it would be done twice."""
    stops = [Stop.LENGTH, Stop.TOOL_USE, Stop.END]

    class Cut:
        provider, name, capabilities = "somebody", "short", Capabilities()
        asked = 0

        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            done = sum(isinstance(turn, ModelTurn) for turn in request.history)
            Cut.asked += 1
            if Cut.asked == 3:
                await asyncio.sleep(60)
            append = ToolUse(id="c", tool="run_command", args={"command": "echo once >> log.txt"})
            yield Reply(text="words", stop=stops[done], calls=[append] if stops[done] is Stop.TOOL_USE else [])

    journal = MemoryJournal()
    task_id = ""
    for _ in range(2):
        async with a_house(tmp_path, journal) as house:
            house.engine._worker._work._catalog.model_for = lambda *_: Cut()  # type: ignore[attr-defined]
            task_id = task_id or await house.execute("do it", intent="run_command", approvals="auto")
            if Cut.asked < 3:
                await house.until(task_id, "tool", status="success")
            else:
                assert (await house.ended(task_id)).status is Status.COMPLETED
    assert (tmp_path / "workspace" / "log.txt").read_text() == "once\n"


async def test_an_agent_at_its_limit_goes_on_when_the_task_is_resumed(tmp_path: Path) -> None:
    looks = [{"calls": [{"tool": "list_dir", "args": {"path": f"{number}"}}]} for number in range(5)]
    async with a_house(tmp_path) as house:
        for number in range(5):
            (house.workspace / f"{number}").mkdir()
        models = house.script("play", [*looks, {"text": "I have seen it all."}])
        task_id = await house.execute("look", models=models, intent="chat", maxIterations=3)
        task = await house.ended(task_id)
        assert task.error is not None
        assert (task.error.code, task.error.recoverable) == ("iteration_limit", True)
        assert "resume" in task.error.message
        await house.submit(Resume(task_id))
        async with asyncio.timeout(5):
            complete = await house.until(task_id, "complete")
    assert complete["result"]["summary"] == "I have seen it all."


async def test_what_was_rewound_was_paid_for_all_the_same_and_takes_nothing_from_the_budget(tmp_path: Path) -> None:
    answer = {"text": "ok", "usage": {"inputTokens": 600, "outputTokens": 0}}
    async with a_house(tmp_path) as house:
        models = house.script("play", [answer])
        task_id = await house.execute("say it", models=models, intent="chat", maxTokens=1_000)
        started = await house.until(task_id, "step", state="started")
        await house.ended(task_id)
        for paid in (1_200, 1_800):
            await house.engine.review.rewind(task_id, started["seq"])
            await house.submit(Resume(task_id))
            task = await house.ended(task_id)
            assert task.status is Status.COMPLETED, task.error
            assert task.usage.input_tokens == paid
