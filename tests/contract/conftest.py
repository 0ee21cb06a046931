"""Every journal: a test that asks for one runs with each. The engines of sandboxes elsewhere."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from sidecar.journal.port import Journal, Retention
from sidecar.journal.sqlite import SqliteJournal
from tests.contract.journals import postgres_journal
from tests.support.containers import podman
from tests.support.e2b_server import E2bServer
from tests.support.scratch_journal import closed_journals  # noqa: F401
from tests.support.servers import Postgres, programs_with_pgvector


@pytest.fixture(scope="module")
def vector_postgres() -> Iterator[Postgres]:
    """One with pgvector."""
    server = Postgres(programs=programs_with_pgvector())
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgres"])
async def open_journal(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[object]:
    opened: list[Journal] = []

    async def open_one(retention: Retention | None = None) -> Journal:
        journal: Journal
        if request.param == "postgres":
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


@pytest.fixture(scope="module")
def socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    # A short path: a socket's may have 107 characters.
    with podman(tmp_path_factory.mktemp("podman", numbered=True)) as path:
        yield path


@pytest.fixture(scope="module")
def e2b(tmp_path_factory: pytest.TempPathFactory) -> Iterator[E2bServer]:
    pytest.importorskip("e2b")
    server = E2bServer(tmp_path_factory.mktemp("e2b"))
    with server.running():
        yield server
