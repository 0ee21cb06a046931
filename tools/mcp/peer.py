"""The other side of a connection, and how we tell whether it is alive."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

#: A server hangs if it neither answers, writes nor uses the processor for this long.
SILENT_SECONDS = 2.0


class Peer(Protocol):
    """The other side, as far as we can see it: a process of ours, or only what comes over the network."""

    last_heard: float
    ended: asyncio.Event
    closed_because: str

    @property
    def error_output(self) -> str: ...

    def processor_seconds(self) -> float: ...


class Opening(NamedTuple):
    """How to reach the server: streams for the client, and who is behind them."""

    streams: Any
    peer: Peer


class Liveness:
    """When a server last wrote something or used the processor."""

    def __init__(self, find_peer: Callable[[], Peer | None], since: float) -> None:
        self._find_peer = find_peer
        self._since = since
        self._used = -1.0

    def renew(self) -> None:
        self._since = time.monotonic()

    def discount(self, seconds: float) -> None:
        """Leave out time in which this machine didn't let us look."""
        self._since += max(0.0, seconds)

    async def silent_seconds(self) -> float:
        now, peer = time.monotonic(), self._find_peer()
        if peer is not None:
            self._since = max(self._since, peer.last_heard)
            if now - self._since > SILENT_SECONDS / 4:
                used = await asyncio.to_thread(peer.processor_seconds)
                if used > self._used >= 0:
                    self._since = now
                self._used = used
        return now - self._since
