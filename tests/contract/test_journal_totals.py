"""Totals over any journal: each event once, over restarts, pruned tasks and a journal that was set aside."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sidecar.api.metrics import JournalTotals
from sidecar.journal.port import Journal
from tests.contract.journals import COMPLETED, RUNNING, new_task
from tests.support.scratch_journal import ScratchJournal


async def end_task(journal: Journal, name: str) -> None:
    await journal.create(new_task(name))
    await journal.append(name, [RUNNING])
    await journal.append(name, [COMPLETED])


async def completed(totals: JournalTotals) -> int:
    async with totals.read() as tally:
        return tally.ended["completed"]


async def test_each_event_counts_once_however_often_it_is_asked(journal: Journal, tmp_path: Path) -> None:
    totals = JournalTotals(journal, tmp_path / "totals.json")
    assert await completed(totals) == 0
    for number in range(1, 4):
        await end_task(journal, f"t_{number}")
        assert await completed(totals) == number
        assert await completed(totals) == number


async def test_totals_survive_a_stop_and_a_crash(journal: Journal, tmp_path: Path) -> None:
    file = tmp_path / "totals.json"
    first = JournalTotals(journal, file)
    await end_task(journal, "t_1")
    assert await completed(first) == 1
    await first.close()
    await end_task(journal, "t_2")
    second = JournalTotals(journal, file)
    assert await completed(second) == 2
    # This one is killed: nothing was written since the first.
    assert await completed(JournalTotals(journal, file)) == 2


async def test_a_deleted_task_stays_counted(journal: Journal, tmp_path: Path) -> None:
    file = tmp_path / "totals.json"
    totals = JournalTotals(journal, file)
    await end_task(journal, "t_1")
    assert await completed(totals) == 1
    await totals.close()
    await end_task(journal, "t_2")
    await end_task(journal, "t_3")
    await journal.delete("t_3")
    # Its events are gone before anyone counted them; those of the others count once.
    assert await completed(totals) == 2
    assert await completed(JournalTotals(journal, file)) == 2


async def test_another_journal_in_its_place_is_counted_on_top(open_journal: Callable[[], Any], tmp_path: Path) -> None:
    file = tmp_path / "totals.json"
    old: Journal = await open_journal()
    for number in range(5):
        await end_task(old, f"t_{number}")
    totals = JournalTotals(old, file)
    assert await completed(totals) == 5
    await totals.close()
    new = ScratchJournal()
    await end_task(new, "t_new")
    assert await completed(JournalTotals(new, file)) == 6
    await new.close()


async def test_a_damaged_file_of_totals_is_counted_anew(journal: Journal, tmp_path: Path) -> None:
    file = tmp_path / "totals.json"
    await end_task(journal, "t_1")
    for damaged in ("", "{", '{"version": 99, "cursor": 12}', '{"cursor": "x"}'):
        file.write_text(damaged)
        assert await completed(JournalTotals(journal, file)) == 1
