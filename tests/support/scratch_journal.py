"""A real journal for one test, in a directory of its own."""

from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, Self

import pytest

from sidecar.journal.port import Retention
from sidecar.journal.sqlite import SqliteJournal

#: Without a disk to wait for, where there is such a place.
_FAST = Path("/dev/shm")


class ScratchJournal(SqliteJournal):
    """Needs the fixture `closed_journals`."""

    _open: ClassVar[list[Self]] = []

    def __init__(self, retention: Retention | None = None) -> None:
        self._directory = TemporaryDirectory(prefix="brain-journal-", dir=_FAST if _FAST.is_dir() else None)
        super().__init__(Path(self._directory.name) / "journal.db", retention or Retention(), [])
        self._open.append(self)

    async def close(self) -> None:
        if self in self._open:
            self._open.remove(self)
            await super().close()
            self._directory.cleanup()

    @classmethod
    async def close_all(cls) -> None:
        for journal in [*cls._open]:
            await journal.close()


@pytest.fixture(autouse=True)
async def closed_journals() -> AsyncIterator[None]:
    yield
    await ScratchJournal.close_all()
