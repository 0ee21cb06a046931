"""Every journal that there is: whoever asks for one is run with each."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from sidecar.journal.memory import MemoryJournal
from sidecar.journal.port import Journal, Retention
from sidecar.journal.sqlite import SqliteJournal
from tests.contract.journals import postgres_journal


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def open_journal(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[object]:
    opened: list[Journal] = []

    async def open_one(retention: Retention | None = None) -> Journal:
        journal: Journal
        if request.param == "memory":
            journal = MemoryJournal(retention)
        elif request.param == "postgres":
            journal = await postgres_journal(request, retention)
        else:
            journal = await SqliteJournal.open(tmp_path / "journal.db", retention)
        opened.append(journal)
        return journal

    yield open_one
    for journal in opened:
        await journal.close()


@pytest.fixture
async def journal(open_journal: Callable[[], object]) -> Journal:
    return await open_journal()  # type: ignore[misc]
