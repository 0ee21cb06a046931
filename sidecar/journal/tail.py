"""Following a task live: subscribe first, replay what is stored, then go on, without gap or repeat.

A reader holds at most `LIVE_LIMIT` unread events. One that falls further behind loses nothing: what it missed is read
from the journal again, as if it had just come. Only live events, which are not stored, are skipped for it.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

from sidecar.journal.port import Page, StoredEvent
from sidecar.wire.tasks import ENDED

LIVE_LIMIT = 512
PAGE = 500

ReadPage = Callable[[str, int, int], Awaitable[Page]]


class Subscription:
    def __init__(self) -> None:
        self._unread: deque[StoredEvent] = deque()
        self._wake = asyncio.Event()
        self.lagged = False

    def offer(self, event: StoredEvent) -> None:
        if len(self._unread) >= LIVE_LIMIT:
            self._unread.clear()
            self.lagged = True
        self._unread.append(event)
        self._wake.set()

    async def take(self) -> list[StoredEvent]:
        while not self._unread:
            self._wake.clear()
            await self._wake.wait()
        taken = list(self._unread)
        self._unread.clear()
        return taken


class Hub:
    """Who is following which task in this process."""

    def __init__(self) -> None:
        self._subscriptions: defaultdict[str, set[Subscription]] = defaultdict(set)

    def publish(self, event: StoredEvent) -> None:
        for subscription in self._subscriptions.get(event.task_id, ()):
            subscription.offer(event)

    def followed(self, task_id: str) -> bool:
        return task_id in self._subscriptions

    async def tail(self, task_id: str, after: int, read: ReadPage) -> AsyncGenerator[Sequence[StoredEvent], None]:
        subscription = Subscription()
        self._subscriptions[task_id].add(subscription)
        try:
            async with aclosing(_follow(subscription, task_id, after, read)) as batches:
                async for batch in batches:
                    yield batch
        finally:
            self._subscriptions[task_id].discard(subscription)
            if not self._subscriptions[task_id]:
                del self._subscriptions[task_id]


async def _follow(
    subscription: Subscription, task_id: str, cursor: int, read: ReadPage
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
        while not subscription.lagged:
            fresh, cursor, whole = _unseen(await subscription.take(), cursor)
            if fresh:
                yield fresh
            if not whole:
                break
            if any(_ends(event) for event in fresh):
                return


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


_ENDINGS = tuple(f'{{"type":"status","status":"{status}"' for status in ENDED)


def _ends(event: StoredEvent) -> bool:
    return event.data.startswith(_ENDINGS)
