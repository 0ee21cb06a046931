"""Events as server-sent events: batches of stored events in, chunks of text out.

A reader that takes nothing for too long is disconnected. It loses nothing: it reconnects with `Last-Event-ID`.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, aclosing, suppress

import anyio._backends._asyncio  # noqa: F401 - else the loop loads it while it answers the first stream
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse, SendTimeoutError
from starlette.types import Receive, Scope, Send

from sidecar.journal.errors import CursorLost
from sidecar.journal.port import StoredEvent

Batches = AsyncGenerator[Sequence[StoredEvent], None]

log = logging.getLogger(__name__)

CHUNK_BYTES = 64 * 1024
KEEP_ALIVE_SECONDS = 15


class EventStream(EventSourceResponse):
    def __init__(
        self,
        events: Batches,
        counted: Callable[[], AbstractContextManager[None]],
        closing: asyncio.Event,
        slow_seconds: float,
        *,
        all_tasks: bool = False,
    ) -> None:
        super().__init__(
            encode(events, all_tasks=all_tasks),
            ping=KEEP_ALIVE_SECONDS,
            ping_message_factory=lambda: ServerSentEvent(comment="keep-alive", sep="\n"),
            send_timeout=slow_seconds,
            sep="\n",
        )
        self._counted = counted
        self._closing = closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._counted():
            try:
                await super().__call__(scope, receive, send)
            except SendTimeoutError:
                log.info("Closed a stream whose reader stalled; it can resume.")

    async def _listen_for_exit_signal(self) -> None:  # type: ignore[override]
        # The library polls twice a second whether the server is stopping; an event costs nothing.
        await self._closing.wait()


async def encode(batches: Batches, *, all_tasks: bool = False) -> AsyncIterator[bytes]:
    """`id` is the event's number in its task, or its cursor in a stream of all tasks."""
    # A reader that fell behind what was pruned learns so when it reconnects.
    with suppress(CursorLost):
        async with aclosing(batches):
            async for batch in batches:
                lines: list[str] = []
                size = 0
                for event in batch:
                    number = "" if event.seq is None else f"id: {event.cursor if all_tasks else event.seq}\n"
                    lines.append(f"{number}data: {event.data}\n\n")
                    size += len(event.data)
                    if size > CHUNK_BYTES:
                        yield "".join(lines).encode()
                        lines, size = [], 0
                if lines:
                    yield "".join(lines).encode()
