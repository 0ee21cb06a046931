"""A misspelled slash command is said back before anything begins; what may be a sentence is one."""

from pathlib import Path

import pytest

from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import Fork, SendMessage
from sidecar.wire.intents import SLASH_COMMANDS
from sidecar.wire.tasks import ForkRequest
from sidecar.work.customizations import Customizations
from sidecar.work.router import suggest_command
from tests.support.engine import engine_harness


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("exlpain", "explain"),
        ("xeplain", "explain"),
        ("Explain", "explain"),
        ("reveiw", "review"),
        ("refactr", "refactor"),
        ("eidt", "edit"),
        ("doc", "docs"),
        ("runn", "run"),
        ("nwe", "new"),
    ],
)
def test_a_misspelled_command_is_said_back_with_the_one_that_was_meant(word: str, meant: str) -> None:
    for task in (f"/{word}", f"/{word} the parser", f"  /{word}\nthe parser"):
        said = suggest_command(task, SLASH_COMMANDS)
        assert said is not None
        assert said.startswith(f"There is no command /{word}. Did you mean /{meant}?")


@pytest.mark.parametrize(
    "task",
    [
        "/explain the parser",
        "/etc/hosts says what?",
        "/etc is not readable",
        "/tmp fills up",
        "/api answers 500",
        "/reviews answers 500",
        "/preview is empty",
        "/exit does nothing",
        "/chart shows the wrong axis",
        "/explan/it is a path",
        "/frobnicate is a route",
        "why is /exlpain no command?",
        "/",
        "/ explain it",
        "explain the parser",
    ],
)
def test_a_command_and_whatever_may_be_a_sentence_are_taken_as_they_are(task: str) -> None:
    assert suggest_command(task, SLASH_COMMANDS) is None


def test_one_unknown_word_is_no_sentence() -> None:
    said = suggest_command(" /frobnicate ", SLASH_COMMANDS)
    assert said is not None
    assert said.startswith("There is no command /frobnicate. Nothing was started.")


async def test_nothing_begins_with_a_misspelled_command_by_whichever_door_it_comes(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("play", [{"text": "first"}, {"text": "second"}])
        done = await harness.ended(await harness.execute("/ask what is it?", models=models))
        for act in (
            lambda: harness.execute("/exlpain it"),
            lambda: harness.submit(SendMessage(done.id, "/exlpain it")),
            lambda: harness.submit(Fork(done.id, ForkRequest(task="/exlpain it"))),
        ):
            with pytest.raises(OperationRefused, match="Did you mean /explain") as refusal:
                await act()
            assert (refusal.value.status, refusal.value.code) == (422, "unknown_command")
        assert [task.id for task in await harness.journal.tasks()] == [done.id]
        assert (await harness.journal.task(done.id)).last_seq == done.last_seq, "nothing was said to it either"


async def test_a_command_of_ones_own_is_none_of_ours_misspelled_and_may_be_misspelled_itself(tmp_path: Path) -> None:
    commands = tmp_path / "own" / "commands"
    commands.mkdir(parents=True)
    (commands / "explan.md").write_text("---\nintent: chat\n---\nSay it plainly.")
    (commands / "deploy.md").write_text("---\nintent: dance\n---\nIt cannot be used.")
    async with engine_harness(tmp_path, customizations=Customizations(tmp_path / "own")) as harness:
        models = harness.script("play", [{"text": "plainly"}])
        done = await harness.ended(await harness.execute("/explan it", models=models))
        assert done.intent == "chat"
        for slipped, meant in (("/depoly it", "deploy"), ("/codre it", "coder")):
            with pytest.raises(OperationRefused, match=f"Did you mean /{meant}"):
                await harness.execute(slipped, models=models)


async def test_whoever_says_what_kind_of_task_it_is_may_begin_it_with_any_word(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("play", [{"text": "It is a route of yours."}])
        done = await harness.ended(await harness.execute("/runn answers 404, why?", intent="chat", models=models))
        assert done.error is None
