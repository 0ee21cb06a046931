"""The person's own agents and slash commands at work, also when their files are gone or cannot be used."""

import asyncio
from pathlib import Path

from sidecar.engine.operations import Resume
from sidecar.work.customizations import Customizations
from tests.unit.engine.house import a_house


async def test_an_agent_whose_file_is_gone_fails_clearly_and_can_be_resumed(tmp_path: Path) -> None:
    own = tmp_path / "own"
    for kind, text in (("agents", "Be brief."), ("commands", "---\nagent: brief\n---\nSay it.")):
        (own / kind).mkdir(parents=True)
        (own / kind / "brief.md").write_text(text)
    async with a_house(tmp_path) as house:
        house.engine._worker._work._customizations = Customizations(own)  # type: ignore[attr-defined]
        refusal = {"failure": {"code": "refused", "message": "no", "retry": False}}
        models = house.script("play", {"brief": [refusal]})
        task = await house.ended(await house.execute("/brief", models=models))
        assert task.pipeline == ["brief"]
        (own / "agents" / "brief.md").unlink()
        await house.submit(Resume(task.id))
        async with asyncio.timeout(5):
            error = await house.until(task.id, "error", code="no_agent")
        assert error["recoverable"]


async def test_a_file_that_cannot_be_used_is_said_and_nothing_else_is_done_instead(tmp_path: Path) -> None:
    own = tmp_path / "own"
    for kind, name, text in (
        ("agents", "brief", "---\ntools: no_such\n---\nx"),
        ("commands", "broken", "---\nintent: dance\n---\nx"),
    ):
        (own / kind).mkdir(parents=True, exist_ok=True)
        (own / kind / f"{name}.md").write_text(text)
    async with a_house(tmp_path) as house:
        house.engine._worker._work._customizations = Customizations(own)  # type: ignore[attr-defined]
        models, first = house.script("play", [{"text": "never said"}]), ""
        for task, options, code, why in (
            ("/broken everything", {}, "bad_command", "there is no intent 'dance'"),
            ("do it", {"agentType": "brief"}, "no_agent", "there is no tool no_such"),
        ):
            done = await house.ended(await house.execute(task, models=models, **options))
            assert done.error is not None
            assert (done.error.code, done.error.recoverable) == (code, True)
            assert why in done.error.message
            first = first or done.id
        (own / "commands" / "broken.md").write_text("---\nintent: chat\n---\nTell me of $ARGUMENTS.")
        await house.submit(Resume(first))
        route = await house.until(first, "route")
        assert route["intent"] == "chat", "it is what the mended file says"


async def test_an_agent_may_have_a_model_of_its_own_and_the_task_may_know_better(tmp_path: Path) -> None:
    own = tmp_path / "own" / "agents"
    own.mkdir(parents=True)
    (own / "brief.md").write_text("---\nmodel: scripted/mine\n---\nBe brief.")
    async with a_house(tmp_path) as house:
        house.engine._worker._work._customizations = Customizations(tmp_path / "own")  # type: ignore[attr-defined]
        house.script("mine", [{"text": "mine"}])
        theirs = house.script("theirs", [{"text": "theirs"}])
        for models, expected in (({}, "mine"), (theirs, "theirs")):
            done = await house.ended(await house.execute("x", agentType="brief", intent="chat", models=models))
            assert done.result is not None
            assert done.result.summary == expected
