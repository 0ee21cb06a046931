"""The journal port. `sqlite` keeps it in a file, `postgres` in a database; one contract suite holds for both."""

import time
from asyncio import Future
from collections.abc import AsyncGenerator, Awaitable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, Protocol

from sidecar.wire.events import Event
from sidecar.wire.health import JournalState
from sidecar.wire.tasks import ENDED, Priority, Status, StoredRequest, Task


class Retention(NamedTuple):
    days: float = 90
    bytes: int = 512 * 1024 * 1024
    #: Limit of one task's file contents; changes beyond it can't be undone.
    task_bytes: int = 256 * 1024 * 1024

    def is_too_old(self, created_at: str) -> bool:
        return created_at < self.cutoff()

    def cutoff(self) -> str:
        return timestamp(datetime.now(UTC) - timedelta(days=self.days))


def timestamp(moment: datetime | None = None) -> str:
    """As the wire has it: UTC, milliseconds, `Z`."""
    if moment is not None:
        return moment.isoformat(timespec="milliseconds")[:-6] + "Z"
    milliseconds = time.time_ns() // 1_000_000
    return f"{_second(milliseconds // 1_000)}.{milliseconds % 1_000:03}Z"


@lru_cache(maxsize=2)
def _second(number: int) -> str:
    """Many events happen in one second, and its date takes longer to render than the rest."""
    return datetime.fromtimestamp(number, UTC).isoformat()[:-6]


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
    """What a task needs to recover, and no reader sees: steps, turns, intents, answers. Unique by kind and key.

    The journal fills in `seq`, the event that it belongs to: the last one written with it, or else the next one.
    """

    kind: str
    key: str
    body: str
    seq: int = field(default=0, compare=False)


class Entry(NamedTuple):
    """Events and records that are written together, and when they happened."""

    at: str
    events: Sequence[Event]
    records: Sequence[Record] = ()

    @classmethod
    def now(cls, events: Sequence[Event], records: Sequence[Record] = ()) -> "Entry":
        return cls(timestamp(), events, records)

    @classmethod
    def appended(
        cls, earlier: Sequence["Entry"], events: Sequence[Event], records: Sequence[Record]
    ) -> Sequence["Entry"]:
        return [*earlier, cls.now(events, records)] if events or records else earlier


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
    #: What it knows from the start; written with the events.
    records: Sequence[Record] = ()


class TaskFilter(NamedTuple):
    """Which tasks to list. Empty collections and `None` ask nothing."""

    statuses: Collection[Status] = ()
    conversation: str | None = None
    workspaces: Collection[str] = ()
    #: In what was asked, answered or changed, in the title or in the names of files: all, or with `any_word` one.
    words: str = ""
    any_word: bool = False
    pinned: bool | None = None
    archived: bool | None = None


ALL_TASKS = TaskFilter()


class Claim(NamedTuple):
    """The right to work on a task. A later claim has a higher fence, and writes with a lower one fail."""

    task_id: str
    owner: str
    fence: int
    status: Status
    request: StoredRequest
    records: Sequence[Record]
    #: How many records are damaged. A task that misses any could do something twice.
    damaged: int = 0
    #: Whether another task can be claimed now.
    more: bool = False


#: Statuses of tasks that a run worked on; and those in which no run can.
LEFT_OPEN = frozenset({Status.RUNNING, Status.WAITING, Status.CANCELLING, Status.INTERRUPTED})
UNCLAIMED = frozenset({Status.QUEUED, Status.INTERRUPTED}) | ENDED

#: Tasks that name no pool are in this one.
DEFAULT_POOL = "default"
PAGE_CHARACTERS = 4 * 1024 * 1024
PRIORITIES: dict[Priority, int] = {"high": 0, "normal": 1, "low": 2}


class Journal(Protocol):
    def create(self, new: NewTask, *, max_queued: int | None = None) -> Awaitable[tuple[Task, bool]]:
        """The task, and whether it is new: the same idempotency key gives the same task.

        Like an append it is written in the order of the calls: a later claim finds it.
        """

    async def find_by_key(self, idempotency_key: str) -> str | None:
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
        alone: bool = False,
    ) -> Future[Sequence[StoredEvent]]:
        """Written in the order of the calls, awaited or not; durable once awaited.

        `sync` waits for the disk itself, not only for the operating system. `fence` is the claim's; `when` holds the
        statuses in which the change is allowed. `earlier` comes before it. All of it is written, or none. With `alone`
        a shared journal raises `WrittenElsewhere` if another process wrote what this one hasn't read.
        """

    def followed(self, task_id: str) -> bool:
        """Whether somebody in this process follows the task, or all tasks."""

    def publish(self, task_id: str, event: Event) -> None:
        """Show an event to current readers without storing it."""

    def tail(self, task_id: str, after: int = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        """All events after a number, then new ones, in the largest batches at hand, until the task ends."""

    async def events(self, task_id: str, after: int = 0, limit: int = 500) -> Page:
        """At most so many, and not more than `PAGE_CHARACTERS` of them, but for a single one that is longer."""

    async def all_events(self, after: int | None = 0, limit: int = 500, *, skip_pruned: bool = False) -> EventsPage:
        """The durable events of all tasks after a cursor; none of them after `None`, which is the newest cursor.

        Raises `CursorLost` if events after that cursor were pruned, unless `skip_pruned`, or if there was no such
        cursor. 0 begins with the oldest event that is kept.
        """

    def tail_all(self, after: int | None = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        """The durable events of all tasks after a cursor, then new ones as they come, without end."""

    async def records(self, task_id: str) -> Sequence[Record]: ...

    async def task(self, task_id: str) -> Task: ...

    async def request(self, task_id: str) -> StoredRequest: ...

    async def tasks(
        self, wanted: TaskFilter = ALL_TASKS, *, limit: int = 50, before: str | None = None
    ) -> Sequence[Task]:
        """Newest first; `before` is the last task of the page before."""

    async def delete(self, task_id: str) -> None:
        """Remove a task that has ended, with its events, records and contents; raises `WrongStatus` if it hasn't."""

    async def counts(self) -> dict[Status, int]: ...

    async def renew(self, task_id: str, fence: int, now: float, lease: float) -> None: ...

    async def release(self, task_id: str) -> None:
        """Drop the claim, so that the task can be claimed again."""

    async def left_open(self, owner: str) -> Sequence[Task]:
        """Unfinished tasks that an owner other than `owner` claimed."""

    async def tasks_with_undo(self) -> Sequence[str]:
        """The tasks with an undo that may be unfinished."""

    def put_blob(self, task_id: str, data: bytes, like: str | None = None, *, capped: bool = True) -> Awaitable[str]:
        """Store bytes for as long as the task is kept; returns their digest.

        `like` names a similar content, to store only the difference. Bytes beyond the task's cap are not stored, unless
        `capped` is false. Like an append it is written in the order of the calls, awaited or not.
        """

    async def blob(self, digest: str) -> bytes | None:
        """`None` if it was not kept, or is damaged."""

    async def prune(self) -> int:
        """Drop the oldest ended tasks over the caps; returns how many."""

    async def check(self) -> None:
        """Raises `JournalStalled` if it can't be written now."""

    def state(self) -> JournalState: ...

    def fail_fast(self) -> None:
        """The sidecar is stopping: fail writes instead of waiting for a stalled disk."""

    async def close(self) -> None: ...


class OwnJournal(Journal, Protocol):
    """A journal that one process uses. It hands out its tasks itself; those of a shared one are dispatched by name."""

    async def claim(self, owner: str, now: float, lease: float) -> Claim | None:
        """The next free task, by priority and then by age, or one whose lease has expired.

        A task that was being cancelled when its worker died is claimed too, to finish that.
        """
