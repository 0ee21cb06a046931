"""The lease under which work runs. Each effect checks it right before it happens.

A worker that was stopped for longer than its lease may have lost its task to another one. It learns so from its next
write to the journal, but an effect that it was about to make when it was stopped would come first. What remains is a
stop between the check and the system call after it.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tools.errors import ToolError

#: Also counts the time in which the machine sleeps.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def lease_clock() -> float:
    return time.clock_gettime(_CLOCK)


class Lease:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0
        self.extend(lease_clock())

    def extend(self, since: float) -> None:
        """It was renewed by a request that was sent at `since`."""
        self._until = since + self._seconds

    @property
    def left(self) -> float:
        return self._until - lease_clock()


_held: ContextVar[Lease | None] = ContextVar("lease", default=None)


@contextmanager
def holding(lease: Lease | None) -> Iterator[None]:
    """What is done here, and in tasks and threads begun here, is done under this lease."""
    token = _held.set(lease)
    try:
        yield
    finally:
        _held.reset(token)


def check_lease() -> None:
    lease = _held.get()
    if lease is not None and lease.left < 0:
        raise ToolError(
            "This worker was stopped for longer than its claim on the task lasts, so it did nothing.",
            advice="Look whether it was done meanwhile, then repeat it.",
            code="lease_expired",
        )
