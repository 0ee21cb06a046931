"""Publishes every durable event to the Redis stream `brain:events`.

The journal is the outbox, and the id of an entry is the event's cursor (`CURSOR-0`): the stream itself says how far it
is, an entry is never there twice, and after an outage the bus goes on behind the last one. A stream that was lost is
filled again with the newest events.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing, suppress
from typing import Any

from sidecar.journal.errors import CursorLost
from sidecar.journal.port import Journal, StoredEvent

log = logging.getLogger(__name__)

STREAM = "brain:events"
#: Older entries go; the journal still has them.
MAX_ENTRIES = 1_000_000
#: How many events a lost stream is filled with.
REFILL = 100_000
_PAUSE = 1.0
_SECONDS = 10.0


class Bus:
    def __init__(self, journal: Journal, url: str) -> None:
        self._journal = journal
        self._url = url
        self._running: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Publish until cancelled; begin again whenever Redis is away."""
        from redis.asyncio import Redis
        from redis.exceptions import RedisError

        away = False
        while True:
            redis = Redis.from_url(self._url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS)
            try:
                async with redis:
                    after = await self._last(redis)
                    if away:
                        log.warning("Redis is back; the event bus catches up.")
                        away = False
                    await self._publish(redis, after)
            except (RedisError, OSError, TimeoutError) as error:
                if not away:
                    log.error("Redis is away (%s). Nothing is lost: the event bus catches up once it is back.", error)
                    away = True
            await asyncio.sleep(_PAUSE)

    async def _last(self, redis: Any) -> int:
        """The cursor of the newest entry; of a stream that is empty, the cursor from which to fill it."""
        entries = await redis.xrevrange(STREAM, count=1)
        newest = (await self._journal.all_events(None)).last_cursor
        if not entries:
            return max(newest - REFILL, 0)
        last = _cursor(entries[0])
        if last > newest:
            # Of another journal: its numbers went further than ours.
            log.error("The Redis stream %s belongs to another journal; it is set aside.", STREAM)
            await redis.rename(STREAM, f"{STREAM}:{last}")
            return 0
        return last

    async def _publish(self, redis: Any, after: int) -> None:
        """Return if the stream lost entries, as a server that was restarted may have."""
        try:
            await self._follow(redis, after, after)
        except CursorLost:
            # Events behind the last entry were pruned; go on with the oldest that is kept.
            await self._follow(redis, 0, after)

    async def _follow(self, redis: Any, start: int, after: int) -> None:
        published = 0
        async with aclosing(self._journal.tail_all(start)) as batches:
            async for batch in batches:
                entries = await redis.xrevrange(STREAM, count=1) if published else ()
                if published and (not entries or _cursor(entries[0]) < published):
                    log.warning("The Redis stream %s lost entries; they are published again.", STREAM)
                    return
                fresh = [event for event in batch if event.cursor > after]
                await _add(redis, fresh)
                published = fresh[-1].cursor if fresh else published

    def start(self) -> None:
        self._running = asyncio.create_task(self.run(), name="bus")

    async def close(self) -> None:
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running


def _cursor(entry: tuple[bytes, object]) -> int:
    return int(entry[0].partition(b"-")[0])


async def _add(redis: Any, events: Sequence[StoredEvent]) -> None:
    from redis.exceptions import ResponseError

    async with redis.pipeline(transaction=False) as pipe:
        for event in events:
            pipe.xadd(STREAM, {"event": event.data}, id=f"{event.cursor}-0", maxlen=MAX_ENTRIES)
        for outcome in await pipe.execute(raise_on_error=False):
            if isinstance(outcome, ResponseError) and "equal or smaller" in str(outcome):
                continue  # another leader was faster
            if isinstance(outcome, Exception):
                raise outcome
