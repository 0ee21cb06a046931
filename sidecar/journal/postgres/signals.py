"""Tells other processes which tasks were written, and listens to theirs.

A notification takes a lock of the whole database at its commit, so writes carry none: each process sends one for all
its recent writes. A lost one costs at most `POLL_SECONDS`: then the process looks whether the journal has grown.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Any

import psycopg

from sidecar.journal.errors import JournalError
from sidecar.journal.postgres.connection import FIRST_PAUSE, LONGEST_PAUSE, LOST, connect
from sidecar.journal.postgres.live import LiveRelay

log = logging.getLogger(__name__)

POLL_SECONDS = 2.0
BATCH_SECONDS = 0.01
#: A payload holds 8,000 bytes; a notification without names means all tasks.
_MAX_NAMES = 100
_CHANNEL = "brain_written"

#: Called with the tasks that others wrote to, or `None` for any.
Heard = Callable[[Collection[str] | None], None]


class Signals:
    def __init__(
        self,
        conninfo: str,
        schema: str,
        sender: str,
        heard: Heard,
        newest: Callable[[], Awaitable[int]],
        send: Callable[[str, str], Awaitable[None]],
        relay: LiveRelay,
    ) -> None:
        self._conninfo = conninfo
        self._channel = f"{_CHANNEL}_{schema}"
        self._sender = sender
        self._heard = heard
        self._newest = newest
        self._send = send
        self._relay = relay
        self._written: set[str] = set()
        self._sending: asyncio.Task[None] | None = None
        self._known = -1
        self._listening = asyncio.create_task(self._listen(), name="journal-signals")

    def written(self, task_id: str) -> None:
        self._written.add(task_id)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_soon())

    async def _send_soon(self) -> None:
        while self._written:
            await asyncio.sleep(BATCH_SECONDS)
            names, self._written = self._written, set()
            listed = sorted(names) if len(names) <= _MAX_NAMES else None
            # Others find out by themselves if it is lost.
            with suppress(JournalError, *LOST):
                await self._send(self._channel, json.dumps([self._sender, listed]))

    async def close(self) -> None:
        for task in (self._listening, self._sending):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _listen(self) -> None:
        pause = FIRST_PAUSE
        while True:
            connection: psycopg.AsyncConnection[Any] | None = None
            try:
                connection = await connect(self._conninfo)
                for channel in (self._channel, self._relay.asking, self._relay.own):
                    await connection.execute(psycopg.sql.SQL("LISTEN {}").format(psycopg.sql.Identifier(channel)))
                self._heard(None)
                pause = FIRST_PAUSE
                while True:
                    await self._hear(connection)
            except (JournalError, *LOST) as error:
                log.debug("No notifications: %s", error)
            finally:
                if connection is not None:
                    connection.pgconn.finish()
            self._heard(None)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _hear(self, connection: psycopg.AsyncConnection[Any]) -> None:
        quiet = True
        async for notification in connection.notifies(timeout=POLL_SECONDS, stop_after=1):
            quiet = False
            if notification.channel != self._channel:
                self._relay.heard(notification.channel, notification.payload)
                continue
            sender, names = json.loads(notification.payload)
            if sender != self._sender:
                self._heard(names)
        if quiet:
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    newest = await self._newest()
            except (JournalError, TimeoutError):
                # Busy, not lost: to listen anew would have all readers look, and make it busier.
                return
            if newest != self._known:
                self._known = newest
                self._heard(None)
