"""Works on what is due in a queue of the store, some in parallel, and sleeps until the next is due."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Generic, Protocol, TypeVar


class Identified(Protocol):
    @property
    def id(self) -> int: ...


Item = TypeVar("Item", bound=Identified)
Due = TypeVar("Due", covariant=True)
_PARALLEL = 8
_LOOK_SECONDS = 1.0
#: `brain doors retry` is another process, and wakes nobody.
_LONGEST_SECONDS = 5.0


class Queue(Protocol[Due]):
    async def due(self, limit: int) -> Sequence[Due]: ...

    async def next_at(self) -> float | None:
        """When the next attempt is due."""


class WorkLoop(Generic[Item]):
    """Items are told apart by `id`. A slow one holds up only its own subject."""

    def __init__(self, queue: Queue[Item], act: Callable[[Item], Awaitable[None]]) -> None:
        self._queue = queue
        self._act = act
        self._woken = asyncio.Event()
        self._running: dict[int, asyncio.Future[None]] = {}
        self._failure: BaseException | None = None

    def wake(self) -> None:
        self._woken.set()

    async def run(self) -> None:
        try:
            while True:
                self._woken.clear()
                await self._start()
                await self._pause()
        finally:
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _start(self) -> None:
        if len(self._running) >= _PARALLEL:
            return
        for item in await self._queue.due(2 * _PARALLEL):
            if len(self._running) < _PARALLEL and item.id not in self._running:
                task = self._running[item.id] = asyncio.ensure_future(self._act(item))
                task.add_done_callback(partial(self._ended, item.id))

    def _ended(self, name: int, task: "asyncio.Future[None]") -> None:
        self._running.pop(name, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failure = error
        self._woken.set()

    async def _pause(self) -> None:
        """Until something ends, arrives or is due."""
        if self._failure is not None:
            raise self._failure
        next_at = await self._queue.next_at()
        # What is at work is due too.
        shortest = _LOOK_SECONDS if self._running else 0.05
        pause = _LONGEST_SECONDS if next_at is None else max(shortest, next_at - time.time())
        try:
            await asyncio.wait_for(self._woken.wait(), min(_LONGEST_SECONDS, pause))
        except TimeoutError:
            return
