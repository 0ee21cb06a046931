"""Tasks whose agents run commands, with the real engine and a journal in memory."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import Cancel, Resume, SendMessage
from sidecar.engine.state import TaskState
from sidecar.journal.port import Claim
from sidecar.wire.tasks import Status
from tests.support.engine import engine_harness
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import SECONDS, loop_turns, until_true

WAIT = {"calls": [{"tool": "run_command", "args": {"command": "echo started; sleep 30"}}]}


async def test_a_full_queue_refuses_with_a_time_to_come_back(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, slots=1, max_queued=1) as harness:
        models = harness.script("wait", [WAIT])
        running = await harness.execute("x", models=models, approvals="auto", intent="run_command")
        await harness.until(running, "tool", status="running")
        await harness.execute("list the files")
        with pytest.raises(OperationRefused) as refusal:
            await harness.execute("list the files")
        assert (refusal.value.status, refusal.value.code) == (429, "queue_full")
        assert refusal.value.retry_after


async def test_cancel_kills_the_command_and_says_what_had_happened(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        write = {"tool": "write_file", "args": {"path": "a.txt", "content": "x"}}
        models = harness.script("wait", [{"calls": [write]}, WAIT])
        task_id = await harness.execute("x", models=models, approvals="auto", agentType="coder", intent="edit_code")
        await harness.until(task_id, "tool_output")
        await harness.submit(Cancel(task_id))
        task = await harness.ended(task_id)
        assert task.status is Status.CANCELLED
        events = await harness.events(task_id)
        (cancelled,) = [event for event in events if event["type"] == "cancelled"]
        assert [killed["command"] for killed in cancelled["killed"]]
        assert all(not Path(f"/proc/{killed['pid']}").exists() for killed in cancelled["killed"])
        assert {effect["tool"] for effect in cancelled["effects"]} == {"write_file", "run_command"}
        last_of_call = [event["status"] for event in events if event.get("tool") == "run_command"][-1]
        assert last_of_call == "cancelled"
        statuses = [event["status"] for event in events if event["type"] == "status"]
        assert statuses[-2:] == ["cancelling", "cancelled"]


async def test_a_cancelled_test_run_is_reported_once(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        slow = "import signal\n\ndef test_it():\n    print('up', flush=True); signal.pause()\n"
        (harness.workspace / "test_slow.py").write_text(slow)
        (harness.workspace / "pytest.ini").write_text("[pytest]\naddopts = -s\n")
        models = harness.script("tests", [{"calls": [{"tool": "run_tests", "args": {}}]}])
        task_id = await harness.execute("x", models=models, approvals="auto", agentType="coder", intent="edit_code")
        await harness.until(task_id, "tool_output")
        await harness.submit(Cancel(task_id))
        assert (await harness.ended(task_id)).status is Status.CANCELLED
        told = [event["status"] for event in await harness.events(task_id) if event.get("tool") == "run_tests"]
        assert told == ["running", "cancelled"]


async def test_cancel_of_a_queued_task_needs_no_one_to_run_it(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, slots=1) as harness:
        models = harness.script("wait", [WAIT])
        running = await harness.execute("x", models=models, approvals="auto", intent="run_command")
        await harness.until(running, "tool", status="running")
        queued = await harness.execute("list the files")
        await harness.submit(Cancel(queued))
        task = await harness.ended(queued)
        assert task.status is Status.CANCELLED
        assert task.started_at is None


async def test_a_cancelled_task_resumes_where_it_was_and_repeats_nothing(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        append = {"tool": "run_command", "args": {"command": "echo once >> log.txt"}}
        models = harness.script("resume", [{"calls": [append]}, {"text": "slow", "delayMs": 60_000}])
        task_id = await harness.execute("x", models=models, approvals="auto", agentType="coder", intent="edit_code")
        await harness.until(task_id, "tool", status="success")
        await harness.submit(Cancel(task_id))
        await harness.ended(task_id)
        harness.script("resume", [{"calls": [append]}, {"text": "done"}])
        await harness.submit(Resume(task_id))
        async with asyncio.timeout(SECONDS):
            await harness.until(task_id, "complete")
        assert (harness.workspace / "log.txt").read_text() == "once\n"


async def test_resume_of_a_running_or_a_completed_task_is_refused(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("wait", [WAIT])
        running = await harness.execute("x", models=models, approvals="auto", intent="run_command")
        await harness.until(running, "tool", status="running")
        with pytest.raises(OperationRefused) as refusal:
            await harness.submit(Resume(running))
        assert refusal.value.code == "task_active"
        completed = await harness.ended(await harness.execute("list the files"))
        with pytest.raises(OperationRefused) as refusal:
            await harness.submit(Resume(completed.id))
        assert refusal.value.code == "task_completed"


async def test_a_message_to_a_completed_task_continues_it_in_a_new_round(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "a.txt").write_text("needle")
        task = await harness.ended(await harness.execute("list the files"))
        await harness.submit(SendMessage(task.id, "search for needle"))
        async with asyncio.timeout(SECONDS):
            while (again := await harness.ended(task.id)).last_seq == task.last_seq:
                pass
        assert again.status is Status.COMPLETED
        assert again.result is not None
        assert "a.txt" in again.result.summary
        said = [event["text"] for event in await harness.events(task.id) if event["type"] == "message"]
        assert said[0] == "list the files"
        assert "search for needle" in said


async def test_a_message_to_a_task_at_work_is_heard_at_its_next_turn(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        ask = {"calls": [{"tool": "run_command", "args": {"command": "true"}}]}
        models = harness.script("steer", [ask, {"text": "heard"}])
        task_id = await harness.execute("x", models=models, agentType="coder", intent="edit_code")
        approval = await harness.until(task_id, "approval", state="requested")
        await harness.submit(SendMessage(task_id, "be quick"))
        await harness.allow(task_id, approval["approvalId"])
        await harness.ended(task_id)
        state = TaskState.of(await harness.journal.records(task_id))
        assert [len(turn.heard) for turn in state.turns.values()] == [0, 1]


async def test_an_approval_is_asked_for_and_only_the_first_answer_counts(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script(
            "ask", [{"calls": [{"tool": "run_command", "args": {"command": "echo hi"}}]}, {"text": "ok"}]
        )
        task_id = await harness.execute("x", models=models, agentType="terminal", intent="run_command")
        approval = await harness.until(task_id, "approval", state="requested")
        await harness.reached(task_id, Status.WAITING)
        await harness.allow(task_id, approval["approvalId"])
        with pytest.raises(OperationRefused) as refusal:
            await harness.allow(task_id, approval["approvalId"])
        assert (refusal.value.status, refusal.value.code) == (409, "approval_answered")
        task = await harness.ended(task_id)
        assert task.status is Status.COMPLETED
        states = [event["state"] for event in await harness.events(task_id) if event["type"] == "approval"]
        assert states == ["requested", "allowed"]


async def test_a_pending_approval_survives_a_restart(tmp_path: Path) -> None:
    journal = ScratchJournal()
    async with engine_harness(tmp_path, journal) as harness:
        models = harness.script(
            "ask", [{"calls": [{"tool": "run_command", "args": {"command": "echo hi"}}]}, {"text": "ok"}]
        )
        task_id = await harness.execute("x", models=models, agentType="terminal", intent="run_command")
        approval = await harness.until(task_id, "approval", state="requested")
        await harness.reached(task_id, Status.WAITING)
    assert (await journal.task(task_id)).status is Status.INTERRUPTED
    async with engine_harness(tmp_path, journal) as harness:
        await harness.allow(task_id, approval["approvalId"])
        task = await harness.ended(task_id)
        assert task.status is Status.COMPLETED
        requests = [event for event in await harness.events(task_id) if event.get("state") == "requested"]
        assert len(requests) == 1


async def test_a_task_that_takes_too_long_fails_with_everything_kept(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("wait", [WAIT])
        task_id = await harness.execute("x", models=models, approvals="auto", intent="run_command", maxDuration=0.3)
        task = await harness.ended(task_id)
        assert task.status is Status.FAILED
        assert task.error is not None
        assert (task.error.code, task.error.recoverable) == ("max_duration", True)


async def test_the_clock_stands_still_while_a_user_is_asked(tmp_path: Path, jump: Callable[[float], None]) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script(
            "ask", [{"calls": [{"tool": "run_command", "args": {"command": "echo hi"}}]}, {"text": "ok"}]
        )
        task_id = await harness.execute("x", models=models, agentType="terminal", intent="run_command", maxDuration=300)
        approval = await harness.until(task_id, "approval", state="requested")
        await harness.reached(task_id, Status.WAITING)
        await loop_turns(10)  # the clock is paused once that is written
        jump(301)
        await harness.allow(task_id, approval["approvalId"])
        assert (await harness.ended(task_id)).status is Status.COMPLETED


class ClaimOrder(ScratchJournal):
    """A journal that notes who was claimed when."""

    claimed: list[str]
    looks = 0

    async def claim(self, owner: str, now: float, lease: float) -> Claim | None:
        self.looks += 1
        claim = await super().claim(owner, now, lease)
        if claim is not None:
            self.claimed = [*getattr(self, "claimed", []), claim.task_id]
        return claim


async def test_higher_priority_goes_first_and_equals_by_age(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, ClaimOrder(), slots=1) as harness:
        models = harness.script("wait", [WAIT])
        running = await harness.execute("x", models=models, approvals="auto", intent="run_command")
        await harness.until(running, "tool", status="running")
        names = {}
        for name, priority in (("low", "low"), ("first", "normal"), ("second", "normal"), ("high", "high")):
            names[await harness.execute("list the files", priority=priority)] = name
        await harness.submit(Cancel(running))
        for task_id in names:
            await harness.ended(task_id)
        assert isinstance(harness.journal, ClaimOrder)
        assert [names[task_id] for task_id in harness.journal.claimed[1:]] == ["high", "first", "second", "low"]


async def test_the_end_of_a_task_looks_for_another_only_if_one_may_wait(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, ClaimOrder(), slots=1) as harness:
        assert isinstance(harness.journal, ClaimOrder)
        for _ in range(3):
            await harness.ended(await harness.execute("list the files"))
            await until_true(lambda: not harness.engine.busy)
        # At the start, and for each task.
        assert harness.journal.looks <= 4
