"""Writes a task's events and records in order. The task's state has them at once; readers see them once durable.

Every write carries the claim's fence, so a worker that lost its claim can't write any more.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from sidecar.engine.state import RecordKind, TaskState
from sidecar.engine.steps import StepKey
from sidecar.journal.port import Claim, Entry, Journal, Record, StoredEvent
from sidecar.telemetry.logs import log_events
from sidecar.wire.events import Event, StatusEvent
from sidecar.wire.tasks import Status
from tools.ledger import NewBlob

#: Flush once nothing was enqueued for so long: the agent now waits for its model.
IDLE_FLUSH_SECONDS = 0.01
#: Flush at the latest after this.
MAX_QUEUED_SECONDS = 0.1
#: A task waits if its oldest unfinished write is older than this: it could lose what it goes on to pay for.
MAX_BEHIND_SECONDS = 1.0
#: A command may change thousands of files; other tasks get their turn after so many of their contents.
_BLOBS_IN_A_ROW = 200


async def _nothing() -> None:
    return None


class TaskLog:
    def __init__(self, claim: Claim, journal: Journal) -> None:
        self.task_id = claim.task_id
        self.state = TaskState.of(claim.records)
        #: Called when the run changed the task's status, once that is durable.
        self.on_status: Callable[[str, StatusEvent], None] = lambda task_id, event: None
        #: Renews the claim if it may soon expire; called between an intent record and its effect.
        self.confirm_claim: Callable[[], Awaitable[None]] = _nothing
        self._journal = journal
        self._fence = claim.fence
        self._queue: list[Entry] = []
        self._timer: asyncio.TimerHandle | None = None
        self._flush_is_scheduled = False
        self._first_enqueued = self._last_enqueued = 0.0
        #: The oldest flush that may be unfinished, and when it began.
        self._flushing: asyncio.Future[Sequence[StoredEvent]] | None = None
        self._flushing_since = 0.0

    async def append(
        self, *events: Event, records: Sequence[Record] = (), sync: bool = False, taken: bool = False
    ) -> None:
        """Return once it is durable, with all that was enqueued before it; `taken` if the state gets the records."""
        earlier = self._take_queue()
        log_events(self.task_id, events)
        await self._journal.append(self.task_id, events, records, sync=sync, fence=self._fence, earlier=earlier)
        if not taken:
            for record in records:
                self.state.take(record)

    def enqueue(self, *events: Event, records: Sequence[Record] = (), taken: bool = False) -> None:
        """Write it before anything that is appended later, without waiting; `taken` if the state has the records.

        For what may be lost together with all that follows from it, because the task can do it again. If no one
        follows the task, it stays in the queue for some milliseconds, and several are written at once.
        """
        loop = asyncio.get_running_loop()
        log_events(self.task_id, events)
        self._queue.append(Entry.now(events, records))
        self._last_enqueued = loop.time()
        if self._timer is None:
            self._first_enqueued = self._last_enqueued
            self._timer = loop.call_later(IDLE_FLUSH_SECONDS, self._flush_if_idle)
        if not self._flush_is_scheduled and self._journal.followed(self.task_id):
            self._flush_is_scheduled = True
            loop.call_soon(self.flush)
        if not taken:
            for record in records:
                self.state.take(record)

    def flush(self) -> None:
        if earlier := self._take_queue():
            written = self._journal.append(self.task_id, fence=self._fence, earlier=earlier)
            if self._flushing is None or self._flushing.done():
                self._flushing, self._flushing_since = written, asyncio.get_running_loop().time()

    async def wait_for_disk(self) -> None:
        """Return at once, unless the disk falls behind; then once it has caught up."""
        if self._flushing is None or self._flushing.done():
            return
        if asyncio.get_running_loop().time() - self._flushing_since > MAX_BEHIND_SECONDS:
            await self.append()

    def compare_and_set(
        self, *events: Event, records: Sequence[Record] = (), when: frozenset[Status], alone: bool = False
    ) -> Awaitable[object]:
        """Change the status if it is still one of these; awaiting it raises `WrongStatus` if it isn't."""
        self.flush()
        written = self._journal.append(self.task_id, events, records, fence=self._fence, when=when, alone=alone)
        written.add_done_callback(partial(self._tell, events))
        return written

    def _tell(self, events: Sequence[Event], written: asyncio.Future[Sequence[StoredEvent]]) -> None:
        if written.cancelled() or written.exception() is not None:
            return
        log_events(self.task_id, events)
        for event in events:
            if isinstance(event, StatusEvent):
                self.on_status(self.task_id, event)

    def live(self, event: Event) -> None:
        """Show an event to current readers, after all that was enqueued before it, and don't store it."""
        if self._journal.followed(self.task_id):
            self.flush()
        self._journal.publish(self.task_id, event)

    def record(self, kind: RecordKind, key: StepKey, body: str) -> Record:
        return Record(kind, str(key.on_branch(self.state.branch)), body)

    async def put_blobs(self, blobs: Sequence[NewBlob]) -> None:
        """Contents are written before the record that names them: if the record is there, they are."""
        for number, blob in enumerate(blobs, 1):
            self._journal.put_blob(self.task_id, blob.data, blob.like)
            if number % _BLOBS_IN_A_ROW == 0:
                await asyncio.sleep(0)  # other tasks go on

    async def blob(self, digest: str) -> bytes | None:
        return await self._journal.blob(digest)

    async def renew(self, now: float, lease: float) -> None:
        await self._journal.renew(self.task_id, self._fence, now, lease)

    def _flush_if_idle(self) -> None:
        loop = asyncio.get_running_loop()
        due = min(self._last_enqueued + IDLE_FLUSH_SECONDS, self._first_enqueued + MAX_QUEUED_SECONDS)
        if loop.time() < due:
            self._timer = loop.call_at(due, self._flush_if_idle)
        else:
            self.flush()

    def _take_queue(self) -> Sequence[Entry]:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._flush_is_scheduled = None, False
        entries, self._queue = self._queue, []
        return entries
