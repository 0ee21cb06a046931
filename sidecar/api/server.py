"""uvicorn without its clock: it wakes up for connections and for shutdown only."""

import asyncio
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.types import ASGIApp

from sidecar.api.limits import ConnectionLimits
from sidecar.api.streams import Streams

if TYPE_CHECKING or "uvicorn" in sys.modules:
    from uvicorn.config import Config
    from uvicorn.server import Server

    from sidecar.api.connections import LimitedProtocol
else:
    # `import uvicorn` also loads click and multiprocessing, for a command line we don't use: 10 ms of a 300 ms start.
    found = find_spec("uvicorn")
    package = sys.modules["uvicorn"] = ModuleType("uvicorn")
    package.__path__ = found.submodule_search_locations
    try:
        from uvicorn.config import Config
        from uvicorn.server import Server

        # The server looks these up by name when it starts; loaded here, they don't bring the rest along.
        package.Config = Config
        import_module("uvicorn.lifespan.off")
        from sidecar.api.connections import LimitedProtocol
    finally:
        # A later `import uvicorn` gets the whole package.
        del sys.modules["uvicorn"]

GRACE_SECONDS = 1
BACKLOG = 2_048
#: Frames above the bridge's limit but below this one are read and refused; larger ones end the connection.
MAX_WEBSOCKET_BYTES = 32 * 1024 * 1024


class Certificate(NamedTuple):
    file: Path
    key: Path


class QuietServer(Server):
    def __init__(
        self,
        app: ASGIApp,
        streams: Streams,
        heartbeat: float,
        limits: ConnectionLimits,
        certificate: "Certificate | None" = None,
    ) -> None:
        super().__init__(
            Config(
                app,
                http=partial(LimitedProtocol, limits=limits),  # type: ignore[arg-type]  # called like the class
                ws=_websocket,  # type: ignore[arg-type]  # called like the class that it creates
                ws_max_size=MAX_WEBSOCKET_BYTES,
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
                ssl_certfile=certificate and certificate.file,
                ssl_keyfile=certificate and certificate.key,
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
        # uvicorn polls ten times a second whether to exit; an event costs nothing.
        await self._stopping.wait()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # `brain serve` handles signals for the whole sidecar.
        yield


def _websocket(**given: Any) -> asyncio.Protocol:
    from sidecar.api.websocket import Socket

    return Socket(**given)


def open_socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio disables Nagle's algorithm only for sockets created with IPPROTO_TCP; without it an answer takes 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening
