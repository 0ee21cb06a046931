"""Titles of tasks, asked of a real SDK that talks to a local server."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecar.telemetry.redaction import Redactor
from sidecar.wire.events import CompleteEvent, Event, LabelEvent, UsageEvent
from sidecar.wire.tasks import Models, Options, Task, TaskResult, Usage
from sidecar.work.titles import Titles
from tests.contract.journals import COMPLETED, RUNNING, new_task
from tests.contract.servers.http import Answer
from tests.contract.servers.speech import Speech
from tests.contract.servers.stage import CANARY, SPEAKERS, Stage, a_stage
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import loop_turns

LONG = "Please look at the parser and find out why it drops the last line of a file without a line break at its end."
SAID = CompleteEvent(result=TaskResult(summary="It drops it.", files_modified=[], verification=None, usage=Usage()))


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(SPEAKERS[0], tmp_path) as stage:
        yield stage


async def entitle(
    stage: Stage, text: str = LONG, options: Options | None = None, *events: Event, rounds: int = 1
) -> Task:
    """The task after its rounds have ended, each with these events, and its title was asked for."""
    journal, new, rested = ScratchJournal(), new_task("t_1"), asyncio.Event()
    request = new.request.model_copy(update={"task": text, "options": options or Options()})
    await journal.create(new._replace(request=request))
    titles = Titles(journal, stage.catalog, Redactor(lambda: {"key": CANARY}), pause=0)
    titles.on_rest = rested.set
    for _ in range(rounds):
        await journal.append("t_1", [RUNNING, *events, SAID, COMPLETED])
        rested.clear()
        titles.take("t_1", request)
        async with asyncio.timeout(60):
            while titles.busy:
                await rested.wait()
    return await journal.task("t_1")


async def test_a_long_task_is_named_by_the_model_once_and_its_usage_counts(stage: Stage) -> None:
    stage.says(Speech(text='"**Parser drops the last line**."', read=90, written=8))
    task = await entitle(stage, rounds=3)
    assert task.title == "Parser drops the last line"
    assert (task.usage.input_tokens, task.usage.output_tokens) == (90, 8)
    assert len(stage.server.seen) == 1


async def test_a_title_that_is_none_is_asked_for_once_and_the_first_sentence_stays(stage: Stage) -> None:
    stage.says(Speech(text="Well, " * 40))
    task = await entitle(stage, rounds=2)
    assert task.title.startswith("Please look at the parser")
    assert len(stage.server.seen) == 1


async def test_a_short_task_and_one_that_you_named_are_asked_of_no_one(stage: Stage) -> None:
    assert (await entitle(stage, "run the tests")).title == "run the tests"
    assert (await entitle(stage, LONG, None, LabelEvent(title="Mine"))).title == "Mine"
    assert stage.server.seen == []


async def test_offline_and_a_spent_budget_ask_no_one(stage: Stage) -> None:
    await entitle(stage, LONG, Options(models=Models(fast="offline/basic")))
    spent = UsageEvent(input_tokens=5, output_tokens=5, cached_tokens=0, cost_usd=0)
    await entitle(stage, LONG, Options(max_tokens=10), spent)
    assert stage.server.seen == []


@pytest.mark.parametrize("answer", [Answer(status=500), Answer(silent=True)], ids=["fails", "silent"])
async def test_a_model_that_fails_or_says_nothing_leaves_the_first_sentence(
    stage: Stage, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.work.titles.SECONDS", 0.5)
    stage.server.plays(*[answer] * 10)
    assert (await entitle(stage)).title.startswith("Please look at the parser")


async def test_a_title_never_shows_a_secret_or_a_control_character(stage: Stage) -> None:
    stage.says(Speech(text=f"Use {CANARY}"), Speech(text="Red \x1b[31malert"))
    assert CANARY not in (await entitle(stage)).title
    assert "\x1b" not in (await entitle(stage)).title


async def test_a_sidecar_that_ends_right_after_its_task_asks_for_no_title(stage: Stage) -> None:
    journal, new = ScratchJournal(), new_task("t_1")
    request = new.request.model_copy(update={"task": LONG})
    await journal.create(new._replace(request=request))
    await journal.append("t_1", [RUNNING, SAID, COMPLETED])
    titles = Titles(journal, stage.catalog, Redactor(lambda: {"key": CANARY}), pause=60)
    titles.take("t_1", request)
    await loop_turns()
    await titles.close()
    assert stage.server.seen == []
