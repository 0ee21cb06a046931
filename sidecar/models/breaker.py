"""A model that fails again and again is left alone for a while, by every task, instead of being waited for."""

import time
from collections.abc import Callable

FAILURES = 3
REST_SECONDS = 30.0


class Breaker:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._open_until = 0.0

    @property
    def open(self) -> bool:
        return self._clock() < self._open_until

    def failed(self) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            self._open_until = self._clock() + REST_SECONDS

    def answered(self) -> None:
        self._failures = 0
        self._open_until = 0.0
