"""The journal in dictionaries, for tests: the same promises, but it doesn't outlive the process."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from sidecar.journal import rows
from sidecar.journal.errors import (
    CursorLost,
    DuplicateRecord,
    JournalClosed,
    JournalError,
    LeaseLost,
    QueueFull,
    UnknownTask,
    WrongStatus,
)
from sidecar.journal.port import (
    ALL_TASKS,
    LEFT_OPEN,
    PRIORITIES,
    UNCLAIMED,
    Claim,
    Entry,
    EventsPage,
    NewTask,
    Page,
    Record,
    Retention,
    StoredEvent,
    TaskFilter,
    timestamp,
)
from sidecar.journal.projection import TaskProjection, fold, task_of
from sidecar.journal.tail import Hub
from sidecar.journal.words import contains, terms_of, words_of
from sidecar.wire.events import Event
from sidecar.wire.health import JournalState
from sidecar.wire.tasks import ENDED, Status, StoredRequest, Task

T = TypeVar("T")

_CLAIMABLE_AGAIN = frozenset({Status.QUEUED, Status.RUNNING, Status.WAITING, Status.CANCELLING})
_UNHELD = frozenset({Status.QUEUED, Status.CANCELLING})


@dataclass(slots=True)
class _StoredTask:
    id: str
    created_at: str
    request: StoredRequest
    queued: int
    state: TaskProjection = field(default_factory=TaskProjection)
    events: list[StoredEvent] = field(default_factory=list)
    records: dict[tuple[str, str], Record] = field(default_factory=dict)
    blobs: set[str] = field(default_factory=set)
    fence: int = 0
    owner: str | None = None
    until: float = 0.0

    def task(self) -> Task:
        return task_of(self.id, self.created_at, self.request, self.state, len(self.events))

    def matches(self, words: str, *, any_word: bool) -> bool:
        terms = terms_of(words)
        texts = [words_of(event.data) for event in self.events]
        found = [any(contains(text, term) for text in texts) for term in terms]
        if not terms:
            return not words.strip()
        return any(found) if any_word else all(found)

    @property
    def place(self) -> tuple[int, int]:
        return PRIORITIES[self.request.options.priority], self.queued


class MemoryJournal:
    def __init__(self, retention: Retention | None = None) -> None:
        self._retention = retention or Retention()
        self._tasks: dict[str, _StoredTask] = {}
        self._keys: dict[str, str] = {}
        self._blobs: dict[str, bytes] = {}
        self._queued = 0
        self._cursor = self._pruned = 0
        self._hub = Hub()
        self._closed = False

    def create(self, new: NewTask, *, max_queued: int | None = None) -> Awaitable[tuple[Task, bool]]:
        return _done(lambda: self._create(new, max_queued))

    def _create(self, new: NewTask, max_queued: int | None) -> tuple[Task, bool]:
        self._check_open()
        if new.idempotency_key in self._keys:
            return self._kept(self._keys[new.idempotency_key]).task(), False
        if max_queued is not None and self._counts().get(Status.QUEUED, 0) >= max_queued:
            raise QueueFull(max_queued)
        if new.idempotency_key is not None:
            self._keys[new.idempotency_key] = new.id
        self._tasks[new.id] = _StoredTask(new.id, timestamp(), new.request, self._next_place())
        self._append(new.id, [Entry.now(new.events, new.records)], None, None)
        return self._kept(new.id).task(), True

    async def find_by_key(self, idempotency_key: str) -> str | None:
        return self._keys.get(idempotency_key)

    def append(
        self,
        task_id: str,
        events: Sequence[Event] = (),
        records: Sequence[Record] = (),
        *,
        sync: bool = False,
        fence: int | None = None,
        when: Collection[Status] | None = None,
        earlier: Sequence[Entry] = (),
        alone: bool = False,
    ) -> asyncio.Future[Sequence[StoredEvent]]:
        entries = Entry.appended(earlier, events, records)
        return _done(lambda: self._append(task_id, entries, fence, when))

    def _append(
        self, task_id: str, entries: Sequence[Entry], fence: int | None, when: Collection[Status] | None
    ) -> Sequence[StoredEvent]:
        self._check_open()
        kept = self._kept(task_id)
        if fence is not None and fence != kept.fence:
            raise LeaseLost(task_id)
        if when is not None and kept.state.status not in when:
            raise WrongStatus(task_id, kept.state.status)
        named = [(record.kind, record.key) for entry in entries for record in entry.records]
        if len({*named, *kept.records}) < len(named) + len(kept.records):
            raise DuplicateRecord
        stored: list[StoredEvent] = []
        for entry in entries:
            seq = len(kept.events) + max(len(entry.events), 1)
            kept.records |= {(record.kind, record.key): replace(record, seq=seq) for record in entry.records}
            for event in entry.events:
                earlier = kept.state.status
                kept.state = fold(kept.state, event, entry.at)
                if kept.state.status is not earlier:
                    self._change_status(kept)
                self._cursor += 1
                seq = len(kept.events) + 1
                stored.append(rows.stored(event.to_json(), event.type, task_id, seq, entry.at, self._cursor))
                kept.events.append(stored[-1])
        self._hub.publish(entries, stored)
        return stored

    def _change_status(self, kept: _StoredTask) -> None:
        if kept.state.status is Status.QUEUED:
            kept.queued = self._next_place()
        if kept.state.status in UNCLAIMED:
            kept.owner = None

    def followed(self, task_id: str) -> bool:
        return self._hub.followed(task_id)

    def publish(self, task_id: str, event: Event) -> None:
        self._hub.publish_live(task_id, event)

    def tail(self, task_id: str, after: int = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        return self._hub.tail(task_id, after, self.events)

    async def events(self, task_id: str, after: int = 0, limit: int = 500) -> Page:
        kept = self._kept(task_id)
        return Page(rows.page_of(kept.events[after : after + limit]), len(kept.events), kept.state.status)

    def tail_all(self, after: int | None = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        return self._hub.tail_all(after, self.all_events)

    async def all_events(self, after: int | None = 0, limit: int = 500, *, skip_pruned: bool = False) -> EventsPage:
        if after is None:
            return EventsPage((), self._cursor)
        if after and ((after < self._pruned and not skip_pruned) or after > self._cursor):
            raise CursorLost(after)
        found = (event for kept in self._tasks.values() for event in kept.events if event.cursor > after)
        ordered = sorted(found, key=lambda event: event.cursor)
        return EventsPage(rows.page_of(ordered[:limit]), self._cursor)

    async def records(self, task_id: str) -> Sequence[Record]:
        return list(self._kept(task_id).records.values())

    async def task(self, task_id: str) -> Task:
        return self._kept(task_id).task()

    async def request(self, task_id: str) -> StoredRequest:
        return self._kept(task_id).request

    async def tasks(
        self, wanted: TaskFilter = ALL_TASKS, *, limit: int = 50, before: str | None = None
    ) -> Sequence[Task]:
        names = list(self._tasks)
        if before is not None:
            names = names[: names.index(before)] if before in self._tasks else []
        newest_first = (self._tasks[name] for name in reversed(names))
        found = [
            kept.task()
            for kept in newest_first
            if (not wanted.statuses or kept.state.status in wanted.statuses)
            and (not wanted.workspaces or kept.request.workspace in wanted.workspaces)
            and wanted.pinned in (None, kept.state.pinned)
            and wanted.archived in (None, kept.state.archived)
            and kept.matches(wanted.words, any_word=wanted.any_word)
        ]
        return [task for task in found if wanted.conversation in (None, task.conversation_id)][:limit]

    async def delete(self, task_id: str) -> None:
        kept = self._kept(task_id)
        if kept.state.status not in ENDED:
            raise WrongStatus(task_id, kept.state.status)
        self._drop(kept)
        self._sweep()

    async def counts(self) -> dict[Status, int]:
        return self._counts()

    def _counts(self) -> dict[Status, int]:
        counted: dict[Status, int] = {}
        for kept in self._tasks.values():
            counted[kept.state.status] = counted.get(kept.state.status, 0) + 1
        return counted

    async def claim(self, owner: str, now: float, lease: float) -> Claim | None:
        self._check_open()
        free = [kept for kept in self._tasks.values() if kept.state.status in _UNHELD and kept.owner is None]
        over = [
            kept
            for kept in self._tasks.values()
            if kept.owner is not None and kept.until < now and kept.state.status in _CLAIMABLE_AGAIN
        ]
        if not free and not over:
            return None
        kept = min(free or over, key=lambda item: item.place)
        kept.owner, kept.until, kept.fence = owner, now + lease, kept.fence + 1
        records = tuple(kept.records.values())
        more = len(free) + len(over) > 1
        return Claim(kept.id, owner, kept.fence, kept.state.status, kept.request, records, more=more)

    async def renew(self, task_id: str, fence: int, now: float, lease: float) -> None:
        kept = self._kept(task_id)
        if kept.fence != fence:
            raise LeaseLost(task_id)
        kept.until = now + lease

    async def release(self, task_id: str) -> None:
        self._kept(task_id).owner = None

    async def left_open(self, owner: str) -> Sequence[Task]:
        return [
            kept.task()
            for kept in self._tasks.values()
            if kept.owner != owner
            and (kept.state.status in LEFT_OPEN or (kept.state.status is Status.QUEUED and kept.owner is not None))
        ]

    async def tasks_with_undo(self) -> Sequence[str]:
        found = self._tasks.values()
        return [kept.id for kept in found if any(kind == "undo" for kind, _ in kept.records)]

    def put_blob(self, task_id: str, data: bytes, like: str | None = None, *, capped: bool = True) -> Awaitable[str]:
        return _done(lambda: self._put_blob(task_id, data, capped=capped))

    def _put_blob(self, task_id: str, data: bytes, *, capped: bool) -> str:
        digest = hashlib.sha256(data).hexdigest()
        used = self._kept(task_id).blobs
        if not capped or sum(len(self._blobs[each]) for each in used) < self._retention.task_bytes:
            used.add(digest)
            self._blobs[digest] = data
        return digest

    async def blob(self, digest: str) -> bytes | None:
        return self._blobs.get(digest)

    async def prune(self) -> int:
        ended = [kept for kept in self._tasks.values() if kept.state.status in ENDED]
        dropped = 0
        for kept in ended:
            if self._retention.is_too_old(kept.created_at):
                self._drop(kept)
                dropped += 1
        for kept in ended:
            if self._size() > self._retention.bytes:
                kept.blobs.clear()
                self._sweep()
        for kept in ended[dropped:]:
            if self._size() > self._retention.bytes:
                self._drop(kept)
                dropped += 1
        self._sweep()
        return dropped

    def _drop(self, kept: _StoredTask) -> None:
        self._pruned = max(self._pruned, kept.events[-1].cursor)
        del self._tasks[kept.id]

    def _sweep(self) -> None:
        used = set().union(*(kept.blobs for kept in self._tasks.values()))
        self._blobs = {digest: data for digest, data in self._blobs.items() if digest in used}

    def _size(self) -> int:
        text = sum(len(event.data) for kept in self._tasks.values() for event in kept.events)
        return text + sum(len(data) for data in self._blobs.values())

    async def check(self) -> None:
        self._check_open()

    def state(self) -> JournalState:
        return JournalState(state="ok", message="", path=":memory:", size_bytes=self._size(), set_aside=[])

    def fail_fast(self) -> None:
        pass

    async def close(self) -> None:
        self._closed = True

    def _kept(self, task_id: str) -> _StoredTask:
        kept = self._tasks.get(task_id)
        if kept is None:
            raise UnknownTask(task_id)
        return kept

    def _next_place(self) -> int:
        self._queued += 1
        return self._queued

    def _check_open(self) -> None:
        if self._closed:
            raise JournalClosed


def _done(act: Callable[[], T]) -> asyncio.Future[T]:
    """A finished future with the result of `act`, or its error."""
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    try:
        future.set_result(act())
    except JournalError as refusal:
        future.set_exception(refusal)
        future.exception()
    return future
