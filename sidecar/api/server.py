"""uvicorn, without its clock: it wakes up for connections and for the end, and for nothing else."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.types import ASGIApp

from sidecar.api.streams import Streams
from sidecar.api.uvicorn_parts import Config, Server

GRACE_SECONDS = 1
BACKLOG = 2_048
#: A frame above the bridge's limit is still read, so that it can be answered; what is above this ends the connection.
MOST_WEBSOCKET = 32 * 1024 * 1024


class QuietServer(Server):
    def __init__(self, app: ASGIApp, streams: Streams, heartbeat: float) -> None:
        super().__init__(
            Config(
                app,
                http="httptools",
                ws=_websocket,  # type: ignore[arg-type]  # called like the class that it stands for
                ws_max_size=MOST_WEBSOCKET,
                ws_ping_interval=heartbeat,
                ws_ping_timeout=heartbeat,
                ws_per_message_deflate=False,
                lifespan="off",
                log_config=None,
                access_log=False,
                date_header=False,
                server_header=False,
                backlog=BACKLOG,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )
        self._streams = streams
        self._stopping = asyncio.Event()
        self.listening = asyncio.Event()

    def stop(self) -> None:
        self._streams.closing.set()
        self.should_exit = True
        self._stopping.set()

    async def main_loop(self) -> None:
        self.listening.set()
        # uvicorn looks ten times a second whether it should end; we are told.
        await self._stopping.wait()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Signals belong to whoever runs the whole sidecar, not to its HTTP server.
        yield


def _websocket(**given: Any) -> asyncio.Protocol:
    from sidecar.api.websocket import Socket

    return Socket(**given)


def bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, else asyncio does not switch off the waiting of small packets for each other: 40 ms an answer.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening
