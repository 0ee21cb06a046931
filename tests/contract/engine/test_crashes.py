"""A task is cut off at every single word it wants to write, and goes on in a new life each time.

The journal in memory outlives the engine, as the file outlives the process. F22: whatever was cut, the next request to
the model is one that a provider accepts.
"""

import asyncio
from pathlib import Path

import pytest

from sidecar.journal.errors import JournalClosed
from sidecar.wire.tasks import Status
from tests.support.crashing_journal import CrashingJournal
from tests.support.engine import EngineHarness, engine_harness
from tests.support.models import StrictModel
from tests.waiting import SECONDS

WORK = [
    {
        "text": "first",
        "calls": [
            {"tool": "write_file", "args": {"path": "a.txt", "content": "a\n"}},
            {"tool": "run_command", "args": {"command": "echo one >> log.txt"}},
        ],
    },
    {"calls": [{"tool": "read_file", "args": {"path": "a.txt"}}, {"tool": "no_such_tool", "args": {}}]},
    {"calls": [{"tool": "run_command", "args": {"command": "echo two >> log.txt"}}]},
    {"text": "done"},
]


async def live_once(tmp_path: Path, journal: CrashingJournal, task_id: str | None) -> str:
    """One life: until the task is complete, or the journal takes no more."""
    harness = EngineHarness(tmp_path, journal)
    models = harness.script("work", WORK)
    try:
        await harness.engine.start()
        if task_id is None:
            task_id = await harness.execute("x", models=models, approvals="auto", agentType="coder", intent="edit_code")
        dead, ended = asyncio.create_task(journal.died.wait()), asyncio.create_task(harness.ended(task_id))
        async with asyncio.timeout(SECONDS):
            await asyncio.wait((dead, ended), return_when=asyncio.FIRST_COMPLETED)
        for waiting in (dead, ended):
            waiting.cancel()
        await asyncio.gather(dead, ended, return_exceptions=True)
    except JournalClosed:
        pass
    finally:
        journal.left = -1
        await harness.engine.stop()
        await harness.executor.close()
    return task_id or ""


@pytest.fixture(autouse=True)
def strict_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sidecar.models.scripted.Scripted", StrictModel)


async def words_of_a_whole_life(tmp_path: Path) -> int:
    journal = CrashingJournal()
    start = journal.left
    async with engine_harness(tmp_path, journal) as harness:
        models = harness.script("work", WORK)
        task_id = await harness.execute("x", models=models, approvals="auto", agentType="coder", intent="edit_code")
        assert (await harness.ended(task_id)).status is Status.COMPLETED
        return start - journal.left


@pytest.mark.timeout(300)
async def test_f22_cut_off_at_any_word_a_task_goes_on_with_a_valid_history_and_repeats_nothing(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    words = await words_of_a_whole_life(tmp_path / "whole")
    assert words > 15
    for cut in range(1, words):
        directory = tmp_path / f"cut{cut}"
        directory.mkdir()
        journal = CrashingJournal()
        journal.left = cut
        task_id = await live_once(directory, journal, None)
        assert task_id
        journal.left, journal.died = 10**9, asyncio.Event()
        await live_once(directory, journal, task_id)
        task = await journal.task(task_id)
        assert task.status is Status.COMPLETED, (cut, task.error)
        workspace = directory / "workspace"
        log = (workspace / "log.txt").read_text().split() if (workspace / "log.txt").exists() else []
        assert len(log) == len(set(log)), f"cut at word {cut}: {log}"
        assert (workspace / "a.txt").read_text() == "a\n"
        events = (await journal.events(task_id, limit=10_000)).events
        assert [event.seq for event in events] == list(range(1, len(events) + 1))


@pytest.mark.timeout(120)
async def test_many_crashes_in_a_row_do_not_wear_a_task_out(tmp_path: Path) -> None:
    journal = CrashingJournal()
    journal.left = 6
    task_id = await live_once(tmp_path, journal, None)
    for _ in range(60):
        journal.left, journal.died = 8, asyncio.Event()
        await live_once(tmp_path, journal, task_id)
        if (await journal.task(task_id)).status is Status.COMPLETED:
            break
    assert (await journal.task(task_id)).status is Status.COMPLETED
    log = (tmp_path / "workspace" / "log.txt").read_text().split()
    assert len(log) == len(set(log))
