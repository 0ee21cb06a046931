"""The person's own agents and slash commands at work, also when their files are gone or cannot be used."""

import asyncio
from pathlib import Path

from sidecar.engine.operations import Resume
from sidecar.work.customizations import Customizations
from tests.support.engine import engine_harness
from tests.waiting import SECONDS


async def test_an_agent_whose_file_is_gone_fails_clearly_and_can_be_resumed(tmp_path: Path) -> None:
    own = tmp_path / "own"
    for kind, text in (("agents", "Be brief."), ("commands", "---\nagent: brief\n---\nSay it.")):
        (own / kind).mkdir(parents=True)
        (own / kind / "brief.md").write_text(text)
    async with engine_harness(tmp_path, customizations=Customizations(own)) as harness:
        refusal = {"failure": {"code": "refused", "message": "no", "retry": False}}
        models = harness.script("play", {"brief": [refusal]})
        task = await harness.ended(await harness.execute("/brief", models=models))
        assert task.pipeline == ["brief"]
        (own / "agents" / "brief.md").unlink()
        await harness.submit(Resume(task.id))
        async with asyncio.timeout(SECONDS):
            error = await harness.until(task.id, "error", code="no_agent")
        assert error["recoverable"]


async def test_a_file_that_cannot_be_used_is_said_and_nothing_else_is_done_instead(tmp_path: Path) -> None:
    own = tmp_path / "own"
    for kind, name, text in (
        ("agents", "brief", "---\ntools: no_such\n---\nx"),
        ("commands", "broken", "---\nintent: dance\n---\nx"),
    ):
        (own / kind).mkdir(parents=True, exist_ok=True)
        (own / kind / f"{name}.md").write_text(text)
    async with engine_harness(tmp_path, customizations=Customizations(own)) as harness:
        models, first = harness.script("play", [{"text": "never said"}]), ""
        for task, options, code, why in (
            ("/broken everything", {}, "bad_command", "there is no intent 'dance'"),
            ("do it", {"agentType": "brief"}, "no_agent", "there is no tool no_such"),
        ):
            done = await harness.ended(await harness.execute(task, models=models, **options))
            assert done.error is not None
            assert (done.error.code, done.error.recoverable) == (code, True)
            assert why in done.error.message
            first = first or done.id
        (own / "commands" / "broken.md").write_text("---\nintent: chat\n---\nTell me of $ARGUMENTS.")
        await harness.submit(Resume(first))
        route = await harness.until(first, "route")
        assert route["intent"] == "chat", "it is what the mended file says"


async def test_an_agent_may_have_a_model_of_its_own_and_the_task_may_know_better(tmp_path: Path) -> None:
    own = tmp_path / "own" / "agents"
    own.mkdir(parents=True)
    (own / "brief.md").write_text("---\nmodel: scripted/mine\n---\nBe brief.")
    async with engine_harness(tmp_path, customizations=Customizations(tmp_path / "own")) as harness:
        harness.script("mine", [{"text": "mine"}])
        theirs = harness.script("theirs", [{"text": "theirs"}])
        for models, expected in (({}, "mine"), (theirs, "theirs")):
            done = await harness.ended(await harness.execute("x", agentType="brief", intent="chat", models=models))
            assert done.result is not None
            assert done.result.summary == expected
