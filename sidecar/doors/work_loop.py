"""Works on what is due in a queue of the store, some in parallel, and sleeps until the next is due."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Protocol, TypeVar

Item = TypeVar("Item")
Due = TypeVar("Due", covariant=True)
_PARALLEL = 8


class Queue(Protocol[Due]):
    async def due(self, limit: int) -> Sequence[Due]: ...

    async def next_at(self) -> float | None:
        """When the next attempt is due."""


class WorkLoop(Generic[Item]):
    def __init__(self, queue: Queue[Item], act: Callable[[Item], Awaitable[None]]) -> None:
        self._queue = queue
        self._act = act
        self._woken = asyncio.Event()

    def wake(self) -> None:
        self._woken.set()

    async def run(self) -> None:
        while True:
            self._woken.clear()
            due = await self._queue.due(_PARALLEL)
            if due:
                await asyncio.gather(*(self._act(each) for each in due))
                continue
            next_at = await self._queue.next_at()
            pause = None if next_at is None else max(0.05, next_at - time.time())
            try:
                await asyncio.wait_for(self._woken.wait(), pause)
            except TimeoutError:
                continue
