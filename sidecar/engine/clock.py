"""The time limits of a task and of its parts, which stand still together while a person is waited for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Clock:
    def __init__(self) -> None:
        self._limits: set[asyncio.Timeout] = set()
        #: How many seconds each of those that stand still has left.
        self._left: dict[asyncio.Timeout, float] = {}

    @asynccontextmanager
    async def limit(self, seconds: float | None) -> AsyncIterator[None]:
        """Ends with `TimeoutError` what takes longer, not counting the time in which the clock stood still."""
        async with asyncio.timeout(seconds) as limit:
            self._limits.add(limit)
            try:
                yield
            finally:
                self._limits.discard(limit)
                self._left.pop(limit, None)

    def stop(self) -> None:
        now = asyncio.get_running_loop().time()
        for limit in self._limits:
            if (ends := limit.when()) is not None and limit not in self._left:
                self._left[limit] = ends - now
                limit.reschedule(None)

    def go_on(self) -> None:
        now = asyncio.get_running_loop().time()
        for limit, seconds in self._left.items():
            limit.reschedule(now + seconds)
        self._left.clear()
