"""Works on what is due in a queue of the store, some in parallel, and sleeps until the next is due."""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Generic, Protocol, TypeVar

log = logging.getLogger("brain.doors")


class Identified(Protocol):
    @property
    def id(self) -> int: ...


Item = TypeVar("Item", bound=Identified)
Due = TypeVar("Due", covariant=True)
_PARALLEL = 8
_LOOK_SECONDS = 1.0
#: `brain doors retry` is another process, and can't wake this loop.
_LONGEST_SECONDS = 5.0


class Queue(Protocol[Due]):
    async def due(self, limit: int) -> Sequence[Due]: ...

    async def next_at(self) -> float | None:
        """When the next attempt is due."""


class WorkLoop(Generic[Item]):
    """Items are identified by `id`. A slow one holds up only its own subject."""

    def __init__(self, queue: Queue[Item], act: Callable[[Item], Awaitable[None]]) -> None:
        self._queue = queue
        self._act = act
        #: Returns when nothing more urgent is to be done; may be set.
        self.idle: Callable[[], Awaitable[None]] | None = None
        self._woken = asyncio.Event()
        self._running: dict[int, asyncio.Future[None]] = {}
        self._failure: BaseException | None = None

    def wake(self) -> None:
        self._woken.set()

    async def run(self) -> None:
        try:
            while True:
                self._woken.clear()
                try:
                    await self._start()
                    await self._pause()
                except sqlite3.Error as error:
                    # Such as a full disk. Nothing is lost: what isn't settled is due again.
                    log.error("the doors can't use their store, and try again in %.0f s: %s", _LONGEST_SECONDS, error)
                    await asyncio.sleep(_LONGEST_SECONDS)
        finally:
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _start(self) -> None:
        if len(self._running) >= _PARALLEL:
            return
        if self.idle is not None:
            await self.idle()
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
            failure, self._failure = self._failure, None
            raise failure
        next_at = await self._queue.next_at()
        pause = _LONGEST_SECONDS if next_at is None else next_at - time.time()
        if pause <= 0:  # it is at work, or waits for an earlier one of its subject
            pause = _LOOK_SECONDS
        # Not wait_for: in Python 3.11 it swallows a cancel that comes together with what it waits for.
        with suppress(TimeoutError):
            async with asyncio.timeout(min(_LONGEST_SECONDS, pause)):
                await self._woken.wait()
