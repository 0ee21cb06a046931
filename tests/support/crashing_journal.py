"""A journal that stops accepting writes, as if the process had been killed there."""

import asyncio
from collections.abc import Sequence
from typing import Any

from sidecar.journal.errors import JournalClosed
from sidecar.journal.port import StoredEvent
from tests.support.scratch_journal import ScratchJournal


class CrashingJournal(ScratchJournal):
    """Accepts `left` more appends; after that every append fails with `JournalClosed`."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 10**9
        self.died = asyncio.Event()

    def append(self, *what: Any, **options: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            self.died.set()
            failed: asyncio.Future[Sequence[StoredEvent]] = asyncio.get_running_loop().create_future()
            failed.set_exception(JournalClosed())
            failed.exception()
            return failed
        return super().append(*what, **options)
