"""Following a task live: subscribe, replay what is stored, then continue, without gap or repeat.

A reader holds at most `LIVE_LIMIT` unread events, or `LIVE_CHARACTERS` of them. If it falls further behind, it reads
from the journal again. A reader that arrives late gets all live text so far. Live events keep their place: one that
came after a write that is still on its way is shown after it.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import aclosing
from functools import partial

from sidecar.journal import rows
from sidecar.journal.live_text import LiveText
from sidecar.journal.port import Entry, EventsPage, Page, StoredEvent, timestamp
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

    def poke(self) -> None:
        """Another process wrote: have the reader look into the journal."""
        self.lagged = True
        self._wake.set()

    async def take(self) -> list[StoredEvent]:
        while not self._unread and not self.lagged:
            self._wake.clear()
            await self._wake.wait()
        return self.drain()

    def drain(self) -> list[StoredEvent]:
        taken = list(self._unread)
        self._unread.clear()
        self._characters = 0
        return taken


class _Unfinished:
    """A task's unfinished writes, and what waits behind them."""

    def __init__(self) -> None:
        self.begun = self.ended = 0
        #: Live events, and readers that wait for earlier writes; each with the number of writes it waits for.
        self.behind: deque[tuple[int, Event | asyncio.Future[None]]] = deque()


class Hub:
    """The readers of each task in this process.

    With a `shared` journal other processes write too: their events may come between ours, so readers of all tasks
    always read from the journal.
    """

    def __init__(self, *, shared: bool = False) -> None:
        self._shared = shared
        self._unfinished: dict[str, _Unfinished] = {}
        self._subscriptions: defaultdict[str, set[Subscription]] = defaultdict(set)
        self._of_all: set[Subscription] = set()
        self._live_text = LiveText()
        #: Called with each live event of a task that runs here.
        self.on_live: Callable[[str, Event], None] = lambda task_id, event: None

    def begin(self, task_id: str) -> None:
        """A write began. It is published once durable; `end` is called then, or if it failed."""
        unfinished = self._unfinished.get(task_id)
        if unfinished is None:
            unfinished = self._unfinished[task_id] = _Unfinished()
        unfinished.begun += 1

    def end(self, task_id: str) -> None:
        """Writes end in the order in which they began."""
        unfinished = self._unfinished[task_id]
        unfinished.ended += 1
        if unfinished.ended == unfinished.begun:
            del self._unfinished[task_id]
        while unfinished.behind and unfinished.behind[0][0] <= unfinished.ended:
            self._release(task_id, unfinished.behind.popleft()[1])

    def _release(self, task_id: str, waiting: "Event | asyncio.Future[None]") -> None:
        if isinstance(waiting, Event):
            self._offer_live(task_id, waiting)
        elif not waiting.done():
            waiting.set_result(None)

    async def _writes_published(self, task_id: str) -> None:
        """Return when all writes that began before have been published."""
        unfinished = self._unfinished.get(task_id)
        if unfinished is not None:
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            unfinished.behind.append((unfinished.begun, waiting))
            await waiting

    def publish(self, entries: Sequence[Entry], stored: Sequence[StoredEvent]) -> None:
        """Offer stored events to all readers."""
        for event, written in zip((event for entry in entries for event in entry.events), stored, strict=True):
            self._live_text.drop_stored(written.task_id, event)
            for subscription in self._subscriptions.get(written.task_id, ()):
                subscription.offer(written)
            for subscription in () if self._shared else self._of_all:
                subscription.offer(written)
        if self._shared:
            self._poke(self._of_all)

    def written_elsewhere(self, task_ids: Collection[str] | None) -> None:
        """Other processes wrote to these tasks, or to any."""
        for task_id in self._subscriptions if task_ids is None else task_ids:
            self._poke(self._subscriptions.get(task_id, ()))
        self._poke(self._of_all)

    def _poke(self, subscriptions: Iterable[Subscription]) -> None:
        for subscription in subscriptions:
            subscription.poke()

    def followed(self, task_id: str) -> bool:
        return bool(self._of_all) or task_id in self._subscriptions

    def publish_live(self, task_id: str, event: Event) -> None:
        """Offer a live event to current readers, and keep it for those who join while it is live."""
        unfinished = self._unfinished.get(task_id)
        if unfinished is None:
            self._offer_live(task_id, event)
            return
        unfinished.behind.append((unfinished.begun, event))
        if len(unfinished.behind) > LIVE_LIMIT:
            # The disk is stalled and a command still prints: show it anyway.
            self._release(task_id, unfinished.behind.popleft()[1])

    def _offer_live(self, task_id: str, event: Event) -> None:
        self.on_live(task_id, event)
        self.show_live(task_id, event)

    def show_live(self, task_id: str, event: Event) -> None:
        """Offer a live event of a task that may run elsewhere."""
        self._live_text.add(task_id, event)
        followers = self._subscriptions.get(task_id)
        if followers:
            live = _live(task_id, event)
            for subscription in followers:
                subscription.offer(live)

    async def tail(self, task_id: str, after: int, read: ReadPage) -> AsyncGenerator[Sequence[StoredEvent], None]:
        subscription = Subscription()
        self._subscriptions[task_id].add(subscription)
        try:
            writes_published, live_so_far = (
                partial(self._writes_published, task_id),
                partial(self._live_so_far, task_id),
            )
            async with aclosing(_follow(subscription, task_id, after, read, writes_published, live_so_far)) as batches:
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

    def drop_stored(self, task_id: str, event: Event) -> None:
        """A stored event of another process contains or ends live text."""
        self._live_text.drop_stored(task_id, event)

    def drop_live(self, task_id: str) -> None:
        self._live_text.drop(task_id)

    def live_text(self, task_id: str) -> Sequence[Event]:
        return self._live_text.events(task_id)

    def _live_so_far(self, task_id: str) -> list[StoredEvent]:
        return [_live(task_id, event) for event in self.live_text(task_id)]


async def _follow(
    subscription: Subscription,
    task_id: str,
    cursor: int,
    read: ReadPage,
    writes_published: Callable[[], Awaitable[None]],
    live_so_far: Callable[[], list[StoredEvent]],
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
        # Stored events come before live text. The page may hold a message that isn't published yet; until then its
        # text still counts as live.
        await writes_published()
        stored = [event for event in subscription.drain() if event.seq is not None]
        fresh, cursor, whole = _unseen(stored, cursor)
        fresh += live_so_far()
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
            # Already replayed; it contains the live text before it.
            fresh = [each for each in fresh if each.seq is not None]
    return fresh, cursor, True


def _live(task_id: str, event: Event) -> StoredEvent:
    return rows.stored(event.to_json(), event.type, task_id, None, timestamp())


_ENDINGS = tuple(f'{{"type":"status","status":"{status}"' for status in ENDED)


def _ends(events: Sequence[StoredEvent]) -> bool:
    """Whether the task ends with these events; a later status in the same batch may continue it."""
    statuses = [event for event in events if event.type == "status"]
    return bool(statuses) and statuses[-1].data.startswith(_ENDINGS)
