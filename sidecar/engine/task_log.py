"""Writes into a task's books, in order. What is written is remembered here at once; what is on disk, others see.

Every word carries the claim's fence, so that a worker that lost its claim cannot write another one.
"""

import asyncio
from collections.abc import Awaitable, Sequence

from sidecar.engine.state import TaskState
from sidecar.journal.port import Claim, Entry, Journal, Record, StoredEvent
from sidecar.wire.events import Event, StepEvent
from sidecar.wire.tasks import Status
from tools.ledger import NewBlob

#: What is in no hurry is written once nothing has come for so long: an agent then waits for its model.
QUIET = 0.01
#: At the latest after this, which is still less than anybody notices.
LATEST = 0.1
#: A task is never further ahead of the disk than this: what it would go on to pay for could be lost.
AHEAD = 1.0


class TaskLog:
    def __init__(self, claim: Claim, journal: Journal) -> None:
        self.task_id = claim.task_id
        self.state = TaskState.of(claim.records)
        self._journal = journal
        self._fence = claim.fence
        #: The steps that have begun and not ended, by their number.
        self.begun: dict[int, StepEvent] = {}
        #: What is in no hurry, in order, until something comes after it that is, or until its time is up.
        self._kept_back: list[Entry] = []
        self._later: asyncio.TimerHandle | None = None
        self._hurried = False
        self._first = self._last = 0.0
        #: The oldest of what was put down that may still be on its way to the disk, and since when it is.
        self._underway: asyncio.Future[Sequence[StoredEvent]] | None = None
        self._since = 0.0

    async def append(self, *events: Event, records: Sequence[Record] = (), sync: bool = False) -> None:
        """Returns when it is durable."""
        earlier = self._taken_up()
        await self._journal.append(self.task_id, events, records, sync=sync, fence=self._fence, earlier=earlier)
        for record in records:
            self.state.take(record)

    def enqueue(self, *events: Event, records: Sequence[Record] = ()) -> None:
        """Written before whatever is appended later, so that nobody has to wait for it: who waits for that, has this.

        For what may be lost together with all that follows from it, because it can be found again. If nobody follows
        the task it lies for some milliseconds, in which an agent goes on.
        """
        loop = asyncio.get_running_loop()
        self._kept_back.append(Entry.now(events, records))
        self._last = loop.time()
        if self._later is None:
            self._first = self._last
            self._later = loop.call_later(QUIET, self._look)
        if not self._hurried and self._journal.followed(self.task_id):
            self._hurried = True
            loop.call_soon(self.flush)
        for record in records:
            self.state.take(record)

    async def wait_for_disk(self) -> None:
        """Returns at once, unless the disk takes nothing: then when it does."""
        if self._underway is None or self._underway.done():
            return
        if asyncio.get_running_loop().time() - self._since > AHEAD:
            await self.append()

    def move(self, *events: Event, records: Sequence[Record] = (), when: frozenset[Status]) -> Awaitable[object]:
        """A change of status that holds only if nobody else changed it first; whoever awaits it learns which."""
        self.flush()
        return self._journal.append(self.task_id, events, records, fence=self._fence, when=when)

    def live(self, event: Event) -> None:
        """Shown to those who watch now, after all that was written before it, and itself not written at all."""
        if self._journal.followed(self.task_id):
            self.flush()
        self._journal.publish(self.task_id, event)

    def keep(self, blobs: Sequence[NewBlob]) -> None:
        """Contents, written before the record that names them, and with it: whoever finds that finds these."""
        for blob in blobs:
            self._journal.put_blob(self.task_id, blob.data, blob.like)

    async def blob(self, digest: str) -> bytes | None:
        return await self._journal.blob(digest)

    def cut_short(self, why: str) -> list[Event]:
        """The end of the steps that came to none by themselves."""
        return [step.model_copy(update={"state": "failed", "message": why}) for step in self.begun.values()]

    async def renew(self, now: float, lease: float) -> None:
        await self._journal.renew(self.task_id, self._fence, now, lease)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        until = min(self._last + QUIET, self._first + LATEST)
        if loop.time() < until:
            self._later = loop.call_at(until, self._look)
        else:
            self.flush()

    def flush(self) -> None:
        """What was in no hurry comes before what follows now: somebody begins to watch, or says something."""
        if earlier := self._taken_up():
            written = self._journal.append(self.task_id, fence=self._fence, earlier=earlier)
            if self._underway is None or self._underway.done():
                self._underway, self._since = written, asyncio.get_running_loop().time()

    def _taken_up(self) -> Sequence[Entry]:
        if self._later is not None:
            self._later.cancel()
        self._later, self._hurried = None, False
        entries, self._kept_back = self._kept_back, []
        return entries
