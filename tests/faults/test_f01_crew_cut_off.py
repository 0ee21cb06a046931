"""A crew is cut off at many of the words that it or its parts want to write, and goes on in a new life each time.

The whole suite fails once after a merge, which is reverted.
"""

import asyncio
from pathlib import Path

import pytest

from sidecar.journal.errors import JournalClosed
from sidecar.wire.tasks import Status
from tests.faults.scale import FULL
from tests.support.crashing_journal import CrashingJournal
from tests.support.crew import Json, make_repository, part, write
from tests.support.engine import EngineHarness
from tests.support.scratch_journal import closed_journals  # noqa: F401
from tests.waiting import SECONDS

PLAN = {"parts": [part("one", "backend", ["one.txt"], []), part("two", "qa", ["two.txt"], [], ["one"])]}


def specialist(name: str) -> list[Json]:
    append = {"tool": "run_command", "args": {"command": f"echo {name} >> {name}.log"}}
    return [write(f"{name}.txt", f"{name}\n"), {"calls": [append]}, {"text": "done"}]


SCRIPT = {
    "strategist": [{"calls": [{"tool": "propose_plan", "args": PLAN}]}],
    "architect": [{"calls": [{"tool": "review_plan", "args": {"approved": True}}]}],
    "backend": specialist("one"),
    "qa": specialist("two"),
}
#: Every so many words; all of them with BRAIN_FAULTS=full.
STRIDE = 1 if FULL else 12


async def live_once(place: Path, journal: CrashingJournal, task_id: str | None) -> str:
    """One life: until the crew is done, or the journal takes no more."""
    harness = EngineHarness(place, journal, crews=True)
    models = harness.script("crew", SCRIPT)
    marker = place / "failed-once"
    suite = f"test ! -f two.txt || test -f {marker} || {{ touch {marker}; exit 1; }}"
    try:
        await harness.engine.start()
        if task_id is None:
            task_id = await harness.execute(
                "build", models=models, crew=True, isolation="worktree", approvals="auto", verify=[suite]
            )
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


async def check(journal: CrashingJournal, task_id: str, cut: int) -> None:
    task = await journal.task(task_id)
    assert task.status is Status.COMPLETED, (cut, task.error)
    assert task.worktree is not None
    assert task.result is not None
    assert task.result.subtasks is not None
    tree = Path(task.worktree)
    for name in ("one", "two"):
        assert (tree / f"{name}.txt").read_text() == f"{name}\n", cut
        # A command that was cut off is never repeated by itself, so it may be missing, but not double.
        log = tree / f"{name}.log"
        assert not log.exists() or log.read_text() == f"{name}\n", cut
    assert [part.state for part in task.result.subtasks] == ["done", "done"], cut
    assert task.result.subtasks[1].attempts in (1, 2), cut
    children = [each for each in await journal.tasks(limit=100) if each.parent == task_id]
    assert all(each.status is Status.COMPLETED for each in children), (
        cut,
        [(each.status, each.error, each.worktree) for each in children],
    )
    assert all(each.worktree is None for each in children), (
        cut,
        [(each.status, each.error, each.worktree) for each in children],
    )


@pytest.mark.timeout(1200)
async def test_f01_cut_off_at_any_word_a_crew_goes_on_and_does_nothing_twice(tmp_path: Path) -> None:
    cut = 0
    while True:
        place = tmp_path / f"cut{cut}"
        (place / "workspace").mkdir(parents=True)
        make_repository(place / "workspace")
        journal = CrashingJournal()
        journal.left = cut or 10**9
        task_id = await live_once(place, journal, None)
        finished = task_id and (await journal.task(task_id)).status is Status.COMPLETED
        if not finished:
            journal.left, journal.died = 10**9, asyncio.Event()
            task_id = await live_once(place, journal, task_id or None)
        await check(journal, task_id, cut)
        if finished and cut:
            break
        cut += STRIDE if cut else 3
    assert cut > 40
