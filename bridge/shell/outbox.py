"""Frames on their way to the sidecar. Live output is left out while they pile up; answers never are."""

import asyncio
from collections import deque
from contextlib import suppress

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

_FULL = 256


class Outbox:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._frames: deque[str] = deque()
        self._more = asyncio.Event()

    @property
    def full(self) -> bool:
        return len(self._frames) >= _FULL

    def put(self, text: str) -> None:
        self._frames.append(text)
        self._more.set()

    async def send(self, text: str) -> None:
        """At once, if nothing waits: for whoever can wait for it."""
        if self._frames:
            self.put(text)
        else:
            with suppress(ConnectionClosed):
                await self._socket.send(text)

    async def write(self) -> None:
        try:
            while True:
                while self._frames:
                    await self._socket.send(self._frames.popleft())
                self._more.clear()
                await self._more.wait()
        except ConnectionClosed:
            return  # what was not sent is asked for again after the reconnect
