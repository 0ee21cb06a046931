"""The event streams that are open: how many, and the word that ends them all."""

import asyncio
from collections.abc import Callable


class Streams:
    """How many streams are open, and the word that ends them all."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.open = 0
        self.closing = asyncio.Event()
        self.on_close: Callable[[], None] = lambda: None

    @property
    def full(self) -> bool:
        return self.open >= self._limit
