"""Following a task live: subscribe, replay what is stored, then continue, without gap or repeat.

A reader holds at most `LIVE_LIMIT` unread events, or `LIVE_CHARACTERS` of them. If it falls further behind, it reads
from the journal again. A reader that arrives late gets all live text so far. Live events keep their place: one that
came after a write that is still on its way is shown after it.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial

from sidecar.journal import rows
from sidecar.journal.port import Entry, EventsPage, Page, StoredEvent, timestamp
from sidecar.journal.spoken import Spoken
from sidecar.wire.events import Event
from sidecar.wire.tasks import ENDED

LIVE_LIMIT = 512
LIVE_CHARACTERS = 4 * 1024 * 1024
PAGE = 500

ReadPage = Callable[[str, int, int], Awaitable[Page]]
ReadAll = Callable[[int | None, int], Awaitable[EventsPage]]


class Subscription:
    def __init__(self) -> None:
        self._unread: deque[StoredEvent] = deque()
        self._characters = 0
        self._wake = asyncio.Event()
        self.lagged = False

    def offer(self, event: StoredEvent) -> None:
        self._characters += len(event.data)
        if len(self._unread) >= LIVE_LIMIT or self._characters > LIVE_CHARACTERS:
            self._unread.clear()
            self._characters = len(event.data)
            self.lagged = True
        self._unread.append(event)
        self._wake.set()

    def pop_lag(self) -> bool:
        """Whether unread events were dropped since the last time."""
        lagged, self.lagged = self.lagged, False
        return lagged

    async def take(self) -> list[StoredEvent]:
        while not self._unread:
            self._wake.clear()
            await self._wake.wait()
        return self.drain()

    def drain(self) -> list[StoredEvent]:
        taken = list(self._unread)
        self._unread.clear()
        self._characters = 0
        return taken


class _Underway:
    """A task's unfinished writes, and what waits behind them."""

    def __init__(self) -> None:
        self.begun = self.ended = 0
        #: Live events, and readers that wait until all before them is told; each behind so many that had begun.
        self.behind: deque[tuple[int, Event | asyncio.Future[None]]] = deque()


class Hub:
    """The readers of each task in this process."""

    def __init__(self) -> None:
        self._underway: dict[str, _Underway] = {}
        self._subscriptions: defaultdict[str, set[Subscription]] = defaultdict(set)
        self._of_all: set[Subscription] = set()
        self._spoken = Spoken()

    def begin(self, task_id: str) -> None:
        """A write began. It is published once durable; `end` is called then, or if it failed."""
        underway = self._underway.get(task_id)
        if underway is None:
            underway = self._underway[task_id] = _Underway()
        underway.begun += 1

    def end(self, task_id: str) -> None:
        """Writes end in the order in which they began."""
        underway = self._underway[task_id]
        underway.ended += 1
        if underway.ended == underway.begun:
            del self._underway[task_id]
        while underway.behind and underway.behind[0][0] <= underway.ended:
            self._go_on(task_id, underway.behind.popleft()[1])

    def _go_on(self, task_id: str, waiting: "Event | asyncio.Future[None]") -> None:
        if isinstance(waiting, Event):
            self._tell(task_id, waiting)
        elif not waiting.done():
            waiting.set_result(None)

    async def _settled(self, task_id: str) -> None:
        """Return when all writes that began before have been published."""
        underway = self._underway.get(task_id)
        if underway is not None:
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            underway.behind.append((underway.begun, waiting))
            await waiting

    def publish(self, entries: Sequence[Entry], stored: Sequence[StoredEvent]) -> None:
        """Events, and what stands in the journal of them."""
        for event, written in zip((event for entry in entries for event in entry.events), stored, strict=True):
            self._spoken.settle(written.task_id, event)
            for subscription in self._subscriptions.get(written.task_id, ()):
                subscription.offer(written)
            for subscription in self._of_all:
                subscription.offer(written)

    def followed(self, task_id: str) -> bool:
        return bool(self._of_all) or task_id in self._subscriptions

    def say(self, task_id: str, event: Event) -> None:
        """A live event: kept for those who come while it goes on, written out only if somebody is there."""
        underway = self._underway.get(task_id)
        if underway is None:
            self._tell(task_id, event)
            return
        underway.behind.append((underway.begun, event))
        if len(underway.behind) > LIVE_LIMIT:
            # The disk is stalled and a command still prints: show it anyway.
            self._go_on(task_id, underway.behind.popleft()[1])

    def _tell(self, task_id: str, event: Event) -> None:
        self._spoken.hear(task_id, event)
        followers = self._subscriptions.get(task_id)
        if followers:
            said = _live(task_id, event)
            for subscription in followers:
                subscription.offer(said)

    async def tail(self, task_id: str, after: int, read: ReadPage) -> AsyncGenerator[Sequence[StoredEvent], None]:
        subscription = Subscription()
        self._subscriptions[task_id].add(subscription)
        try:
            settled, so_far = partial(self._settled, task_id), partial(self._so_far, task_id)
            async with aclosing(_follow(subscription, task_id, after, read, settled, so_far)) as batches:
                async for batch in batches:
                    yield batch
        finally:
            self._subscriptions[task_id].discard(subscription)
            if not self._subscriptions[task_id]:
                del self._subscriptions[task_id]

    async def tail_all(self, after: int | None, read: ReadAll) -> AsyncGenerator[Sequence[StoredEvent], None]:
        subscription = Subscription()
        self._of_all.add(subscription)
        try:
            cursor = (await read(None, 0)).last_cursor if after is None else after
            while True:
                while events := (await read(cursor, PAGE)).events:
                    cursor = events[-1].cursor
                    yield events
                while True:
                    fresh = [event for event in await subscription.take() if event.cursor > cursor]
                    if subscription.pop_lag():
                        break
                    if fresh:
                        cursor = fresh[-1].cursor
                        yield fresh
        finally:
            self._of_all.discard(subscription)

    def _so_far(self, task_id: str) -> list[StoredEvent]:
        return [_live(task_id, event) for event in self._spoken.so_far(task_id)]


async def _follow(
    subscription: Subscription,
    task_id: str,
    cursor: int,
    read: ReadPage,
    settled: Callable[[], Awaitable[None]],
    so_far: Callable[[], list[StoredEvent]],
) -> AsyncGenerator[Sequence[StoredEvent], None]:
    while True:
        subscription.lagged = False
        while True:
            page = await read(task_id, cursor, PAGE)
            if page.events:
                cursor = page.events[-1].seq or cursor
                yield page.events
            if cursor >= page.last_seq:
                break
        if page.status in ENDED:
            return
        # What was said live meanwhile is a part of everything so far; what was stored meanwhile comes before it. The
        # page may hold a message that is not yet published: before that, its words still count as live.
        await settled()
        stored = [event for event in subscription.drain() if event.seq is not None]
        fresh, cursor, whole = _unseen(stored, cursor)
        fresh += so_far()
        while True:
            if fresh:
                yield fresh
            if not whole:
                break
            if _ends(fresh):
                return
            if subscription.lagged:
                break
            fresh, cursor, whole = _unseen(await subscription.take(), cursor)


def _unseen(taken: list[StoredEvent], cursor: int) -> tuple[list[StoredEvent], int, bool]:
    """What is new among the events taken, the new cursor, and whether nothing is missing in between."""
    fresh: list[StoredEvent] = []
    for event in taken:
        if event.seq is None:
            fresh.append(event)
        elif event.seq == cursor + 1:
            fresh.append(event)
            cursor = event.seq
        elif event.seq > cursor:
            return fresh, cursor, False
        else:
            # Replayed already; what was shown live before it is contained in it.
            fresh = [kept for kept in fresh if kept.seq is not None]
    return fresh, cursor, True


def _live(task_id: str, event: Event) -> StoredEvent:
    return rows.stored(event.to_json(), event.type, task_id, None, timestamp())


_ENDINGS = tuple(f'{{"type":"status","status":"{status}"' for status in ENDED)


def _ends(events: Sequence[StoredEvent]) -> bool:
    """Whether the task is over with them: an end that it goes on from in the same breath is none."""
    statuses = [event for event in events if event.type == "status"]
    return bool(statuses) and statuses[-1].data.startswith(_ENDINGS)
