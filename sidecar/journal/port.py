"""The journal port. `sqlite` keeps it in a file, `memory` in dictionaries; one contract suite holds for both."""

from asyncio import Future
from collections.abc import AsyncGenerator, Awaitable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

from sidecar.wire.events import Event
from sidecar.wire.system import JournalState
from sidecar.wire.tasks import ENDED, Priority, Status, StoredRequest, Task


@dataclass(frozen=True, slots=True)
class Retention:
    days: float = 90
    bytes: int = 512 * 1024 * 1024
    #: What the file contents of one task may take; those beyond it are not kept, and cannot be undone.
    task_bytes: int = 256 * 1024 * 1024

    def drops(self, created_at: str, size: int) -> bool:
        """Whether a task of that age goes, when the journal has that size."""
        return size > self.bytes or created_at < timestamp(datetime.now(UTC) - timedelta(days=self.days))


def timestamp(moment: datetime | None = None) -> str:
    """As the wire has it: UTC, milliseconds, `Z`."""
    moment = moment or datetime.now(UTC)
    return moment.isoformat(timespec="milliseconds")[:-6] + "Z"


class StoredEvent(NamedTuple):
    """An event as it goes over the wire: `data` is its JSON. A live event has no `seq`, and no cursor.

    `cursor` is its place among the events of all tasks: it only grows, also over restarts.
    """

    task_id: str
    seq: int | None
    type: str
    data: str
    cursor: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """What a task must remember and nobody watches: step outcomes, intents, answers. Unique by kind and key.

    `seq` is the event that it belongs to, filled in by the journal: the last one written with it, or else the next one.
    """

    kind: str
    key: str
    body: str
    seq: int = field(default=0, compare=False)


class Entry(NamedTuple):
    """What is written in one go, and when it happened; its records belong to its own events."""

    at: str
    events: Sequence[Event]
    records: Sequence[Record] = ()

    @classmethod
    def now(cls, events: Sequence[Event], records: Sequence[Record] = ()) -> "Entry":
        return cls(timestamp(), events, records)


class Page(NamedTuple):
    """Some events in order. `last_seq` and `status` are the task's at the moment of reading."""

    events: Sequence[StoredEvent]
    last_seq: int
    status: Status


class EventsPage(NamedTuple):
    """Some events of all tasks in order, and the newest cursor at the moment of reading."""

    events: Sequence[StoredEvent]
    last_cursor: int


class NewTask(NamedTuple):
    id: str
    request: StoredRequest
    events: Sequence[Event]
    idempotency_key: str | None = None
    #: What it knows from the start; written together with the events.
    records: Sequence[Record] = ()


class Claim(NamedTuple):
    """The right to work on a task. Whoever claims it later has a higher fence, and the earlier one's writes fail."""

    task_id: str
    owner: str
    fence: int
    status: Status
    request: StoredRequest
    records: Sequence[Record]
    #: How many records the disk has spoilt. A task that misses any of them cannot be trusted to repeat nothing.
    damaged: int = 0
    #: Whether there is another one that could be claimed now.
    more: bool = False


#: Statuses of tasks that somebody was at work on; and those in which nobody can be.
LEFT_OPEN = frozenset({Status.RUNNING, Status.WAITING, Status.CANCELLING, Status.INTERRUPTED})
UNCLAIMED = frozenset({Status.QUEUED, Status.INTERRUPTED}) | ENDED

PAGE_CHARACTERS = 4 * 1024 * 1024
PRIORITIES: dict[Priority, int] = {"high": 0, "normal": 1, "low": 2}


class Journal(Protocol):
    def create(self, new: NewTask, *, max_queued: int | None = None) -> Awaitable[tuple[Task, bool]]:
        """The task, and whether it is new: the same idempotency key gives the same task.

        Like an append it is written in the order of the calls: whoever claims after it finds it.
        """

    async def known(self, idempotency_key: str) -> str | None:
        """The task that was created with this key, if there is one."""

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
    ) -> Future[Sequence[StoredEvent]]:
        """Written in the order of the calls, whether awaited or not; durable once the awaiting returns.

        `sync` waits for the disk itself, not only for the operating system. `fence` is the claim's; `when` holds the
        statuses in which the change is allowed. `earlier` is what was kept back, and comes before it. All of it is
        written, or none.
        """

    def followed(self, task_id: str) -> bool:
        """Whether somebody in this process follows the task, or all tasks."""

    def publish(self, task_id: str, event: Event) -> None:
        """Show an event to those who watch now. It is not stored."""

    def tail(self, task_id: str, after: int = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        """Everything after a sequence number, then what comes, in the largest pieces at hand, until the task ends."""

    async def events(self, task_id: str, after: int = 0, limit: int = 500) -> Page:
        """At most so many, and not more than `PAGE_CHARACTERS` of them, but for a single one that is longer."""

    async def all_events(self, after: int | None = 0, limit: int = 500) -> EventsPage:
        """The durable events of all tasks after a cursor; none of them after `None`, which is the newest cursor.

        Raises `CursorLost` if events after that cursor were pruned. 0 begins with the oldest event that is kept.
        """

    def tail_all(self, after: int | None = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        """The durable events of all tasks after a cursor, then new ones as they come, without end."""

    async def records(self, task_id: str) -> Sequence[Record]: ...

    async def task(self, task_id: str) -> Task: ...

    async def request(self, task_id: str) -> StoredRequest: ...

    async def tasks(
        self, *, statuses: Collection[Status] = (), limit: int = 50, before: str | None = None
    ) -> Sequence[Task]: ...

    async def conversation(self, conversation_id: str, limit: int = 50) -> Sequence[Task]:
        """The tasks of a conversation, oldest first."""

    async def counts(self) -> dict[Status, int]: ...

    async def claim(self, owner: str, now: float, lease: float) -> Claim | None:
        """The next task nobody works on, by priority and then by age, or one whose lease has run out.

        A task that was being cancelled when its worker died is claimed too: somebody has to finish the cancelling.
        """

    async def renew(self, task_id: str, fence: int, now: float, lease: float) -> None: ...

    async def release(self, task_id: str) -> None:
        """Whoever held the task no longer does; it can be claimed."""

    async def left_open(self, owner: str) -> Sequence[Task]:
        """The tasks that somebody other than `owner` claimed, or was at work on, and has not ended."""

    async def undoing(self) -> Sequence[str]:
        """The tasks of which something was undone, or was about to be."""

    def put_blob(self, task_id: str, data: bytes, like: str | None = None, *, capped: bool = True) -> Awaitable[str]:
        """The hash under which the bytes can be had again, for as long as the task is kept.

        `like` names a content that it resembles: only the difference is then stored. A task whose contents have reached
        their cap gets the hash all the same, but the bytes are not kept, unless it is not `capped`. Like an append it
        is written in the order of the calls, whether awaited or not.
        """

    async def blob(self, digest: str) -> bytes | None:
        """`None` if it was not kept, or is no longer what its name says."""

    async def prune(self) -> int:
        """Drop the oldest ended tasks that are over the caps; how many were dropped."""

    def state(self) -> JournalState: ...

    def hurry(self) -> None:
        """The end is near: from now on nobody waits for a disk that takes nothing, but is told so."""

    async def close(self) -> None: ...
