"""Time limits for many short pieces of work with a single timer.

`asyncio.timeout` sets and cancels a timer for each, which costs more than most reads. Here one timer serves the
earliest limit; work that ends in time is only removed from a set.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Limit:
    task: asyncio.Task[Any]
    until: float
    #: How often the task had been cancelled before the limit was set.
    cancelled: int
    overdue: bool = False


class Deadlines:
    def __init__(self) -> None:
        self._limits: set[_Limit] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def within(self, seconds: float, work: Coroutine[Any, Any, T]) -> T:
        """Await `work`; raise `TimeoutError` if it takes longer. A cancel from outside stays a cancel."""
        limit = self._limit(seconds)
        try:
            return await work
        except asyncio.CancelledError:
            if limit.overdue and limit.task.cancelling() - 1 <= limit.cancelled:
                raise TimeoutError from None
            raise
        finally:
            self._limits.discard(limit)
            if limit.overdue:
                limit.task.uncancel()

    def _limit(self, seconds: float) -> _Limit:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        limit = _Limit(task, loop.time() + seconds, task.cancelling())
        self._limits.add(limit)
        if self._timer is None or limit.until < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(limit.until, self._expire)
        return limit

    def _expire(self) -> None:
        loop = asyncio.get_running_loop()
        open_limits = [limit for limit in self._limits if not limit.overdue]
        for limit in open_limits:
            if limit.until <= loop.time():
                limit.overdue = True
                limit.task.cancel()
        later = [limit.until for limit in open_limits if not limit.overdue]
        self._timer = loop.call_at(min(later), self._expire) if later else None
