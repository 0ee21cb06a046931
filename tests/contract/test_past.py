"""Past work is found by words in whatever the journal and the notes are kept."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sidecar.config.repositories import Repositories
from sidecar.journal.port import Journal
from sidecar.journal.sqlite import SqliteJournal
from sidecar.memory import past as past_module
from sidecar.memory.notes import Notes
from sidecar.memory.past import Past, PastVectors
from sidecar.wire.events import CompleteEvent
from sidecar.wire.tasks import TaskResult, Usage
from tests.contract.journals import COMPLETED, RUNNING, new_task, postgres_journal, said
from tests.support.servers import Postgres
from tests.support.weights import need_weights


class Kept(NamedTuple):
    """A journal, and what it keeps beside it to find past work."""

    journal: Journal
    vectors: PastVectors | None = None

    def past(self, notes: Notes) -> Past:
        return Past(self.journal, notes, self.vectors)


@pytest.fixture(params=["sqlite", "postgres", "pgvector", "postgres and vectors"])
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kept]:
    """The last one is a database without the extension: the words alone are searched."""
    if request.param == "sqlite":
        found = Kept(await SqliteJournal.open(tmp_path / "journal.db"))
    elif request.param == "postgres":
        found = Kept(await postgres_journal(request))
    else:
        found = await with_vectors(request, "vector_postgres" if request.param == "pgvector" else "postgres")
    yield found
    await found.journal.close()


async def with_vectors(request: pytest.FixtureRequest, server: str) -> Kept:
    from sidecar.journal.postgres.journal import PostgresJournal
    from sidecar.memory.shared_vectors import SharedVectors

    need_weights()
    journal = await postgres_journal(request, server=server)
    assert isinstance(journal, PostgresJournal)
    return Kept(journal, SharedVectors(journal))


@pytest.fixture
async def pgvector(request: pytest.FixtureRequest) -> AsyncIterator[Kept]:
    kept = await with_vectors(request, "vector_postgres")
    yield kept
    await kept.journal.close()


async def end_task(journal: Journal, task_id: str, asked: str, workspace: str = "/w") -> None:
    new = new_task(task_id)
    request = new.request.model_copy(update={"task": asked, "workspace": workspace})
    await journal.create(new._replace(request=request))
    result = TaskResult(summary="Done.", files_modified=[], verification=None, usage=Usage())
    await journal.append(task_id, [said(asked), RUNNING, CompleteEvent(result=result), COMPLETED])


async def found(past: Past, query: str, workspace: str = "/w") -> list[str]:
    return [each.id for each in await past.search(workspace, query)]


async def test_a_task_behind_many_newer_ones_is_found(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past_module, "_TASKS", 3)
    past, journal = kept.past(Notes(tmp_path)), kept.journal
    await end_task(journal, "t_old", "Change the policies for discounted prices")
    await end_task(journal, "t_theirs", "Change the policies of prices", workspace="/theirs")
    for number in range(5):
        await end_task(journal, f"t_{number}", "Rename the shop", workspace="/other")
    assert await found(past, "the policy of discounting, please") == ["t_old"]
    assert await found(past, "shop") == await found(past, "?") == []
    assert await past.similar_tasks("/w", "change policies for discounted prices", without="t_old") == []


async def test_a_clone_has_the_past_of_its_repository(kept: Kept, tmp_path: Path) -> None:
    repositories, remote = Repositories(tmp_path), "https://git.example/team/shop.git"
    notes = Notes(tmp_path, repositories.home)
    past, journal = kept.past(notes), kept.journal
    clone = tmp_path / "clone"
    clone.mkdir()
    repositories.register(str(clone), remote)
    await end_task(journal, "t_1", "raise the tax", workspace=remote)
    note = notes.add(notes.place(str(clone)), "decisions", "Tax rates come from the database", "They change.")
    assert set(await found(past, "tax", str(clone))) == set(await found(past, "tax", remote)) == {"t_1", note.id}
    assert await found(past, "tax", str(tmp_path)) == []


async def test_with_pgvector_past_work_is_found_that_shares_no_word(
    pgvector: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also behind many newer tasks; another workspace's stays there."""
    monkeypatch.setattr(past_module, "_TASKS", 3)
    past, journal = pgvector.past(Notes(tmp_path)), pgvector.journal
    await end_task(journal, "t_car", "Repair the automobile engine")
    await end_task(journal, "t_theirs", "Repair the automobile engine", workspace="/theirs")
    for number in range(5):
        await end_task(journal, f"t_{number}", "Bake a chocolate cake")
    assert await found(past, "fix the car motor") == ["t_car"]
    assert await found(past, "quantum gravity") == []
    # What words find comes before what is only alike.
    await end_task(journal, "t_motor", "Clean the motor")
    assert (await found(past, "fix the car motor"))[0] == "t_motor"
    assert await past.similar_tasks("/w", "fix the car motor") == []


async def test_what_is_deleted_takes_its_vector_along_and_what_goes_on_gets_a_new_one(
    pgvector: Kept, tmp_path: Path
) -> None:
    past, journal = pgvector.past(Notes(tmp_path)), pgvector.journal
    await end_task(journal, "t_1", "Repair the automobile engine")
    await end_task(journal, "t_2", "Repair the automobile engine")
    assert set(await found(past, "fix the car motor")) == {"t_1", "t_2"}
    await journal.delete("t_1")
    rows = await journal.query("SELECT task, seq FROM past_vectors")  # type: ignore[attr-defined]
    assert [task for task, _ in rows] == ["t_2"]
    await journal.append("t_2", [said("go on"), RUNNING, COMPLETED])
    await found(past, "car")
    later = await journal.query("SELECT seq FROM past_vectors")  # type: ignore[attr-defined]
    assert later[0][0] > rows[0][1]


async def test_decisions_in_the_database_are_found_by_meaning(pgvector: Kept, vector_postgres: Postgres) -> None:
    from sidecar.memory.shared_notes import SharedNotes

    ((schema,),) = await pgvector.journal.query("SELECT current_schema()")  # type: ignore[attr-defined]
    notes = SharedNotes(vector_postgres.url, schema)
    past = pgvector.past(notes)
    kept = notes.add("/w", "decisions", "Automobiles need a repaired engine", "Before they are sold.")
    notes.add("/w", "decisions", "Cakes are baked on Mondays", "With chocolate.")
    proposed = notes.add("/w", "decisions", "Vehicles have engines", "Proposed.", task="t_1")
    assert await found(past, "fix the car motor") == [kept.id]
    assert proposed.id not in await found(past, "vehicles")


async def test_a_table_that_is_gone_costs_only_the_vectors(pgvector: Kept, tmp_path: Path) -> None:
    past, journal = pgvector.past(Notes(tmp_path)), pgvector.journal
    await end_task(journal, "t_1", "Repair the automobile engine")
    assert await found(past, "fix the car motor") == ["t_1"]
    await journal.read(lambda connection: connection.execute("DROP TABLE past_vectors"))  # type: ignore[attr-defined]
    assert await found(past, "fix the car motor") == []
    assert await found(past, "repair") == ["t_1"]
