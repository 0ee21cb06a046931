"""The parts of a run: inbox, budget, turns and ledger, each on a journal in memory."""

import asyncio

import pytest

from sidecar.engine.approvals import Slots
from sidecar.engine.errors import AgentError
from sidecar.engine.run import TaskRun
from sidecar.engine.state import RecordKind, UserMessage
from sidecar.engine.steps import StepKey
from sidecar.journal.port import NewTask, Record
from sidecar.models.errors import Failure
from sidecar.models.port import Reply, Stop
from sidecar.wire.events import StatusEvent, ToolEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest, Usage
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import SECONDS, loop_turns
from tools.ledger import IntentRecord, NewBlob, Outcome

TURN = StepKey(1, "coder", 1).of_turn(0)


async def a_run(journal: ScratchJournal, now: float = 0, **options: int) -> TaskRun:
    if not await journal.tasks():
        request = StoredRequest(
            task="x", workspace="/", conversation_id="c", context=Context(), options=Options(**options)
        )
        await journal.create(NewTask("t_1", request, [StatusEvent(status=Status.QUEUED)]))
    claim = await journal.claim("test", now=now, lease=10)
    assert claim is not None
    return TaskRun(claim, journal, Slots(1, lambda: None))


def message(name: str, *, opens: bool = False) -> Record:
    return Record(RecordKind.MESSAGE, name, UserMessage(id=name, text=f"text of {name}", opens=opens).to_json())


async def test_a_message_is_unread_until_an_agent_has_it_and_each_agent_reads_it() -> None:
    run = await a_run(ScratchJournal())
    run.inbox.deliver(message("m_1"))
    assert [each.id for each in run.inbox.unread(set())] == ["m_1"]
    assert [each.text for each in run.inbox.mark_read(["m_1"])] == ["text of m_1"]
    assert [each.id for each in run.inbox.unread({"m_1"})] == []
    assert [each.id for each in run.inbox.unread(set())] == ["m_1"], "another agent has not read it"


async def test_a_late_message_opens_the_next_round_and_belongs_to_no_other() -> None:
    run = await a_run(ScratchJournal())
    run.inbox.deliver(message("m_1"))
    late = run.inbox.messages()
    await run.open_round(Record(RecordKind.ROUND, "1", '{"asked":"x","answered":"y"}'), late)
    assert (run.state.current_round, run.instruction) == (2, "text of m_1")
    assert run.inbox.messages() == []


async def test_the_inbox_settles_when_no_message_is_being_written() -> None:
    run = await a_run(ScratchJournal())
    with run.inbox.expect():
        settling = asyncio.create_task(run.inbox.settle())
        await loop_turns()
        assert not settling.done()
    async with asyncio.timeout(SECONDS):
        await settling


async def test_a_budget_stops_the_task_and_a_resume_grants_it_again() -> None:
    journal = ScratchJournal()
    run = await a_run(journal, max_tokens=100)
    run.turns.record(TURN, "coder", Reply(text="a", stop=Stop.END, usage=Usage(input_tokens=100)), [], None)
    with pytest.raises(AgentError) as caught:
        await run.turns.begin()
    assert caught.value.code == "budget_exceeded"
    resumed = await a_run(journal, now=20)
    assert resumed.budget.usage.input_tokens == 100
    await resumed.turns.begin()


async def test_a_crash_grants_nothing() -> None:
    journal = ScratchJournal()
    run = await a_run(journal, max_tokens=100)
    run.turns.record(TURN, "coder", Reply(text="a", stop=Stop.END, usage=Usage(input_tokens=100)), [], None)
    run.log.flush()
    assert (await a_run(journal, now=20)).budget.overspent() is not None


async def test_a_turn_is_found_again_and_a_failed_reply_is_not_one() -> None:
    journal = ScratchJournal()
    run = await a_run(journal)
    failed = Reply(stop=Stop.FAILED, failure=Failure(code="busy", message="not now"))
    assert not run.turns.record(TURN, "coder", failed, [], None).is_complete
    assert run.turns.find(TURN) is None
    run.turns.record(TURN, "coder", Reply(text="done", stop=Stop.END), [], 900)
    run.turns.stop(TURN.of_turn(1))
    run.log.flush()
    resumed = await a_run(journal, now=20)
    found = resumed.turns.find(TURN)
    assert found is not None and (found.reply.text, found.room) == ("done", 900)
    assert resumed.turns.was_resumed_at(TURN.of_turn(1))
    assert not run.turns.was_resumed_at(TURN.of_turn(1)), "it was stopped in this run"


async def test_an_intent_record_is_durable_before_the_call_acts_and_written_once() -> None:
    journal = ScratchJournal()
    run = await a_run(journal)
    call_id = run.turns.call_id(TURN, 0)
    event = ToolEvent(
        call_id=call_id,
        tool="write_file",
        status="running",
        args={},
        summary="",
        duration_ms=0,
        cached=False,
        executor="local",
    )
    intent = IntentRecord(tool="write_file", args={}, backend="local")
    await run.ledger.intend(call_id, intent, event, [NewBlob(b"content")])
    await run.ledger.intend(call_id, intent, event)
    outcome = Outcome(status="success", content="", summary="", duration_ms=1)
    await run.ledger.settle(call_id, outcome, event)
    assert [record.kind for record in await journal.records("t_1")] == ["intent", "outcome"]
    assert run.ledger.outcome(call_id) == outcome
    resumed = await a_run(journal, now=20)
    assert (resumed.ledger.intent(call_id), resumed.ledger.outcome(call_id)) == (intent, outcome)
