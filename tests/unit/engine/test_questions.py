"""A question waits for its answer, takes the first one only, and its safe choice in an unattended task."""

import asyncio
from pathlib import Path

import pytest

from sidecar.engine.approvals import Slots
from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import AnswerQuestion
from sidecar.engine.run import TaskRun
from sidecar.journal.port import Journal, NewTask
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest
from tests.support.engine import EngineHarness
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import until_true
from tools.ledger import Question

REPEAT = Question("q_1", "It may have taken effect. Run it again?", safe="skip", choices=("skip", "repeat"))


async def claimed(journal: ScratchJournal, harness: EngineHarness, **options: object) -> TaskRun:
    request = StoredRequest(
        task="x",
        workspace=str(harness.workspace),
        conversation_id="c",
        context=Context(),
        options=Options.model_validate(options),
    )
    await journal.create(NewTask("t_1", request, [StatusEvent(status=Status.QUEUED)]))
    return await claim_again(journal)


async def claim_again(journal: ScratchJournal) -> TaskRun:
    claim = await journal.claim("test", 0.0, 60.0)
    assert claim is not None
    run = TaskRun(claim, journal, Slots(1, lambda: None))
    await run.log.compare_and_set(StatusEvent(status=Status.RUNNING), when=frozenset({Status.QUEUED}))
    return run


async def until_waiting(journal: Journal) -> None:
    async def waiting() -> bool:
        return (await journal.task("t_1")).status is Status.WAITING

    await until_true(waiting)


async def asked_in(harness: EngineHarness, run: TaskRun, answer: str) -> str:
    """Ask, wait until the task waits, and answer through the engine."""
    asking = asyncio.create_task(run.questions.ask(REPEAT))
    await until_waiting(harness.journal)
    await harness.engine.submit(AnswerQuestion("t_1", REPEAT.id, answer))
    # In this test the run isn't the engine's own, so it hears of the answer from here.
    (record,) = [each for each in await harness.journal.records("t_1") if each.kind == "question_answer"]
    run.inbox.deliver(record)
    return await asyncio.wait_for(asking, 30)


async def test_the_first_answer_counts_and_a_second_one_is_refused(tmp_path: Path) -> None:
    journal = ScratchJournal()
    harness = EngineHarness(tmp_path, journal)
    run = await claimed(journal, harness)
    assert await asked_in(harness, run, "repeat") == "repeat"
    with pytest.raises(OperationRefused) as refused:
        await harness.engine.submit(AnswerQuestion("t_1", REPEAT.id, "skip"))
    assert (refused.value.status, refused.value.code) == (409, "question_answered")
    events = [event for event in await harness.events("t_1") if event["type"] == "question"]
    assert [(event["state"], event.get("answer")) for event in events] == [("asked", None), ("answered", "repeat")]
    assert events[0]["choices"] == ["skip", "repeat"]
    assert all("by" not in event for event in events)
    assert await run.questions.ask(REPEAT) == "repeat", "the same question is asked once"


async def test_an_answer_that_was_not_offered_and_an_unknown_question_are_refused(tmp_path: Path) -> None:
    journal = ScratchJournal()
    harness = EngineHarness(tmp_path, journal)
    run = await claimed(journal, harness)
    for question, answer, code in (("q_1", "maybe", "answer_not_offered"), ("q_2", "skip", "unknown_question")):
        asking = asyncio.create_task(run.questions.ask(REPEAT))
        await until_waiting(journal)
        with pytest.raises(OperationRefused) as refused:
            await harness.engine.submit(AnswerQuestion("t_1", question, answer))
        assert refused.value.code == code
        asking.cancel()


@pytest.mark.parametrize("options", [{"approvals": "auto"}, {"unattended": True}])
async def test_where_no_one_can_be_asked_the_safe_choice_is_taken_and_recorded(
    tmp_path: Path, options: dict[str, object]
) -> None:
    journal = ScratchJournal()
    harness = EngineHarness(tmp_path, journal)
    run = await claimed(journal, harness, **options)
    assert await asyncio.wait_for(run.questions.ask(REPEAT), 30) == "skip"
    events = [event for event in await harness.events("t_1") if event["type"] == "question"]
    assert [event["state"] for event in events] == ["asked", "answered"]
    assert (events[1]["answer"], events[1]["by"]) == ("skip", "policy")
    assert (await journal.task("t_1")).status is Status.RUNNING, "it never waited"
