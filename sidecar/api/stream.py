"""A task's events as a stream: replayed from any point, then live, closed after the last one.

A reader that takes nothing for too long is let go. It loses nothing: it comes back with the id of its last event.
"""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse, SendTimeoutError
from starlette.types import Receive, Scope, Send

from sidecar.api.streams import Streams
from sidecar.journal.port import StoredEvent

log = logging.getLogger(__name__)

CHUNK_BYTES = 64 * 1024
KEEP_ALIVE_SECONDS = 15


class TaskStream(EventSourceResponse):
    def __init__(
        self, events: AsyncGenerator[Sequence[StoredEvent], None], streams: Streams, slow_seconds: float
    ) -> None:
        super().__init__(
            chunks(events),
            ping=KEEP_ALIVE_SECONDS,
            ping_message_factory=lambda: ServerSentEvent(comment="keep-alive", sep="\n"),
            send_timeout=slow_seconds,
            sep="\n",
        )
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._streams.open += 1
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            log.info("A stream was closed because its reader took nothing; it can be resumed.")
        finally:
            self._streams.open -= 1
            self._streams.on_close()

    async def _listen_for_exit_signal(self) -> None:  # type: ignore[override]
        # The library looks twice a second whether the server is stopping; we are told.
        await self._streams.closing.wait()


async def chunks(batches: AsyncGenerator[Sequence[StoredEvent], None]) -> AsyncIterator[bytes]:
    async with aclosing(batches):
        async for batch in batches:
            lines: list[str] = []
            size = 0
            for event in batch:
                number = "" if event.seq is None else f"id: {event.seq}\n"
                lines.append(f"{number}data: {event.data}\n\n")
                size += len(event.data)
                if size > CHUNK_BYTES:
                    yield "".join(lines).encode()
                    lines, size = [], 0
            if lines:
                yield "".join(lines).encode()
