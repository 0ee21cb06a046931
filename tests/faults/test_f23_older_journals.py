"""F23: a journal that any released version wrote is opened by this one and replayed to the same state.

`tests/journals/VERSION.sql` is what that version wrote, as SQL; `VERSION.json` what it said of its tasks.
"""

import json
import sqlite3
from pathlib import Path

import pytest

from sidecar.journal.projection import TaskProjection, fold
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import EventPage
from tests.e2e.support import running_sidecar

JOURNALS = Path(__file__).parents[1] / "journals"
VERSIONS = sorted(path.stem for path in JOURNALS.glob("*.sql"))


def written_by(version: str, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript((JOURNALS / f"{version}.sql").read_text())
    connection.close()


def test_f23_every_released_version_has_left_a_journal() -> None:
    assert VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
async def test_f23_an_older_journal_shows_the_same_tasks(version: str, tmp_path: Path) -> None:
    written_by(version, tmp_path / "journal.db")
    expected = json.loads((JOURNALS / f"{version}.json").read_text())
    journal = await SqliteJournal.open(tmp_path / "journal.db")
    try:
        assert journal.state().set_aside == []
        tasks = await journal.tasks(limit=1_000)
        assert [json.loads(task.to_json()) for task in tasks] == expected["tasks"]
        for task in tasks:
            page = await journal.events(task.id, limit=10_000)
            assert [json.loads(event.data) for event in page.events] == expected["events"][task.id]
            state = TaskProjection()
            body = f'{{"events":[{",".join(event.data for event in page.events)}],"lastSeq":0,"more":false}}'
            for event in EventPage.model_validate_json(body).events:
                state = fold(state, event, event.at)
            assert (state.status, state.result, state.usage) == (task.status, task.result, task.usage)
    finally:
        await journal.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_f23_what_an_older_version_left_open_is_gone_on_with(version: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    written_by(version, tmp_path / "data" / "journal.db")
    with running_sidecar(tmp_path) as sidecar:
        statuses = {task["status"] for task in sidecar.get("/api/brain/tasks").json["tasks"]}
        assert not statuses & {"interrupted"}
        assert sidecar.wait_for_end(sidecar.execute("list the files"))["status"] == "completed"
