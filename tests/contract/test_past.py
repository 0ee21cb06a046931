"""Past work is found by words in whatever the journal and the notes are kept."""

from pathlib import Path

import pytest

from sidecar.config.repositories import Repositories
from sidecar.journal.port import Journal
from sidecar.memory import past as past_module
from sidecar.memory.notes import Notes
from sidecar.memory.past import Past
from sidecar.wire.events import CompleteEvent
from sidecar.wire.tasks import TaskResult, Usage
from tests.contract.journals import COMPLETED, RUNNING, new_task, said


async def end_task(journal: Journal, task_id: str, asked: str, workspace: str = "/w") -> None:
    new = new_task(task_id)
    request = new.request.model_copy(update={"task": asked, "workspace": workspace})
    await journal.create(new._replace(request=request))
    result = TaskResult(summary="Done.", files_modified=[], verification=None, usage=Usage())
    await journal.append(task_id, [said(asked), RUNNING, CompleteEvent(result=result), COMPLETED])


async def found(past: Past, query: str, workspace: str = "/w") -> list[str]:
    return [each.id for each in await past.search(workspace, query)]


async def test_a_task_behind_many_newer_ones_is_found(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past_module, "_TASKS", 3)
    past = Past(journal, Notes(tmp_path))
    await end_task(journal, "t_old", "Change the policies for discounted prices")
    await end_task(journal, "t_theirs", "Change the policies of prices", workspace="/theirs")
    for number in range(5):
        await end_task(journal, f"t_{number}", "Rename the shop", workspace="/other")
    assert await found(past, "the policy of discounting, please") == ["t_old"]
    assert await found(past, "shop") == await found(past, "?") == []
    assert await past.similar_tasks("/w", "change policies for discounted prices", without="t_old") == []


async def test_a_clone_has_the_past_of_its_repository(journal: Journal, tmp_path: Path) -> None:
    repositories, remote = Repositories(tmp_path), "https://git.example/team/shop.git"
    notes = Notes(tmp_path, repositories.home)
    past = Past(journal, notes)
    clone = tmp_path / "clone"
    clone.mkdir()
    repositories.register(str(clone), remote)
    await end_task(journal, "t_1", "raise the tax", workspace=remote)
    note = notes.add(notes.place(str(clone)), "decisions", "Tax rates come from the database", "They change.")
    assert set(await found(past, "tax", str(clone))) == set(await found(past, "tax", remote)) == {"t_1", note.id}
    assert await found(past, "tax", str(tmp_path)) == []
