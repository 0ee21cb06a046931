"""Writes into a task's books, in order. What is written is remembered here at once; what is on disk, others see.

Every word carries the claim's fence, so that a worker that lost its claim cannot write another one.
"""

import asyncio
from collections.abc import Sequence

from sidecar.engine.memory import Memory
from sidecar.journal.port import Claim, Journal, Record
from sidecar.wire.events import Event
from sidecar.wire.tasks import Status
from tools.ledger import Kept


class Pen:
    def __init__(self, claim: Claim, journal: Journal) -> None:
        self.task_id = claim.task_id
        self.memory = Memory.of(claim.records)
        self._journal = journal
        self._fence = claim.fence
        self._notes: list[Event] = []

    async def append(self, *events: Event, records: Sequence[Record] = (), sync: bool = False) -> None:
        """Returns when it is durable."""
        await self._journal.append(self.task_id, self._noted(events), records, sync=sync, fence=self._fence)
        for record in records:
            self.memory.take(record)

    def write(self, *events: Event, records: Sequence[Record] = ()) -> None:
        """Written before whatever is appended later, so that nobody has to wait for it: who waits for that, has this.

        For what may be lost together with all that follows from it, because it can be found again. It is in no hurry.
        """
        self._journal.append(self.task_id, self._noted(events), records, fence=self._fence, unhurried=True)
        for record in records:
            self.memory.take(record)

    async def move(self, *events: Event, records: Sequence[Record] = (), when: frozenset[Status]) -> None:
        """A change of status that holds only if nobody else changed it first."""
        self._put_down()
        await self._journal.append(self.task_id, events, records, fence=self._fence, when=when)

    def note(self, event: Event) -> None:
        """Written together with what comes next, or at the end of this turn of the event loop."""
        if not self._notes:
            asyncio.get_running_loop().call_soon(self._put_down)
        self._notes.append(event)

    def tell(self, event: Event) -> None:
        """Written at once, because a person waits to see it; but the task does not wait."""
        self._journal.append(self.task_id, self._noted([event]), fence=self._fence)

    def live(self, event: Event) -> None:
        """Shown to those who watch now, and not written at all."""
        self._journal.publish(self.task_id, event)

    def keep(self, blobs: Sequence[Kept]) -> None:
        """Contents, written before the record that names them, and with it: whoever finds that finds these."""
        for blob in blobs:
            self._journal.put_blob(self.task_id, blob.data, blob.like)

    async def blob(self, digest: str) -> bytes | None:
        return await self._journal.blob(digest)

    async def renew(self, now: float, lease: float) -> None:
        await self._journal.renew(self.task_id, self._fence, now, lease)

    def _noted(self, events: Sequence[Event]) -> Sequence[Event]:
        notes, self._notes = self._notes, []
        return [*notes, *events] if notes else events

    def _put_down(self) -> None:
        if self._notes:
            self.write()
