"""The open event streams: how many there are, and the event that closes them all."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from starlette.responses import Response

from sidecar.api.problems import retry_later

if TYPE_CHECKING:
    from sidecar.api.stream import Batches


class Streams:
    def __init__(self, limit: int, slow_reader_seconds: float = 20) -> None:
        self._limit = limit
        self._slow_reader_seconds = slow_reader_seconds
        self._loaded = False
        self.open = 0
        self.closing = asyncio.Event()
        self.on_close: Callable[[], None] = lambda: None

    async def respond(self, events: "Callable[[], Batches]", *, all_tasks: bool = False) -> Response:
        """Server-sent events, or a refusal when too many streams are open."""
        if self.open >= self._limit:
            return retry_later(503, "too_many_streams", "Too many streams are open (`max_streams`); close one.", 5)
        # Loads an SSE library that a start doesn't need; in a thread, because it takes longer than the loop may block.
        if not self._loaded:
            await asyncio.to_thread(import_module, "sidecar.api.stream")
            self._loaded = True
        from sidecar.api.stream import EventStream

        return EventStream(events(), self._counted, self.closing, self._slow_reader_seconds, all_tasks=all_tasks)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1
            self.on_close()
