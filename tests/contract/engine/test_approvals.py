"""What a person takes to answer is no time of the task, nor of the check that they were asked about."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.engine.approvals import Clock, Slots
from sidecar.engine.run import TaskRun
from sidecar.engine.state import RecordKind
from sidecar.journal.port import NewTask, Record
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import ApprovalRequest, Context, Options, Status, StoredRequest
from sidecar.work.check_runner import TaskCheckRunner
from tests.support.engine import EngineHarness
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import SECONDS, loop_turns, until_true
from tools.ledger import Outcome


async def test_a_limit_stands_still_and_goes_on_with_what_was_left(jump: Callable[[float], None]) -> None:
    clock = Clock()
    reached = []
    with pytest.raises(TimeoutError):
        async with clock.limit(60):
            jump(50)
            clock.pause()
            jump(1_000)
            await loop_turns(10)
            reached.append("after the stop")
            clock.resume()
            jump(9)
            await loop_turns(10)
            reached.append("within the limit")
            jump(2)
            await loop_turns(10)
            reached.append("too late")
    assert reached == ["after the stop", "within the limit"]


async def test_a_check_is_not_cut_off_while_its_approval_is_waited_for(
    tmp_path: Path, jump: Callable[[float], None]
) -> None:
    journal = ScratchJournal()
    harness = EngineHarness(tmp_path, journal)
    request = StoredRequest(
        task="x", workspace=str(harness.workspace), conversation_id="c", context=Context(), options=Options()
    )
    await journal.create(NewTask("t_1", request, [StatusEvent(status=Status.QUEUED)]))
    claim = await journal.claim("test", 0.0, 60.0)
    assert claim is not None
    run = TaskRun(claim, journal, Slots(1, lambda: None))
    await run.log.compare_and_set(StatusEvent(status=Status.RUNNING), when=frozenset({Status.QUEUED}))
    try:
        checking: asyncio.Task[Outcome | None] = asyncio.create_task(
            TaskCheckRunner(run, harness.executor, "verify1").run(
                "check", "run_command", {"command": "touch up"}, seconds=60
            )
        )

        async def waiting() -> bool:
            return (await journal.task("t_1")).status is Status.WAITING

        await until_true(waiting)
        jump(1_000)
        await loop_turns(10)
        (asked,) = run.state.approvals
        run.inbox.deliver(Record(RecordKind.ANSWER, asked, ApprovalRequest(decision="allow", scope="once").to_json()))
        outcome = await asyncio.wait_for(checking, SECONDS)
        assert outcome is not None and outcome.status == "success"
        assert (harness.workspace / "up").exists()
    finally:
        await harness.executor.close()
