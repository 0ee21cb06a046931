"""The shell itself: connects, comes back when the connection is lost, and carries out what it is asked, once."""

import asyncio
import logging
import os
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pydantic_core import PydanticSerializationError
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from bridge.session import Run, Send, ShellEffect, ShellSession, Stop, Welcomed
from bridge.shell.backend import BufferedBackend
from bridge.shell.buffers import Buffers
from bridge.shell.outbox import Outbox
from bridge.shell.runner import Runner
from sidecar.wire.bridge import FRAME_LIMIT, SUBPROTOCOL, Diagnostic, NotifyFrame, OpenCall, ShellInfo, Welcome
from sidecar.wire.events import ErrorBody
from tools.executor.registry import Registry, default_registry
from tools.local.limits import Limits
from tools.local.sandbox import Sandboxes

log = logging.getLogger(__name__)

PATH = "/api/brain/bridge"
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0
HEARTBEAT = 15.0


class Endpoint(NamedTuple):
    """Where the sidecar is now. It is looked up for each connection: a new start has a new token, maybe a new port."""

    url: str
    token: str


Find = Callable[[], Endpoint | None]


class ReferenceShell:
    """`async with ReferenceShell(…) as shell`: connected as long as it lasts, whatever happens in between.

    `private` is the sidecar's data directory, which no tool may touch; `data_dir` is the shell's own. Its commands run
    inside the best of `sandboxes`, as those of the sidecar do.
    """

    def __init__(
        self,
        workspace: Path,
        find: Find,
        data_dir: Path,
        *,
        private: Path | None = None,
        registry: Registry | None = None,
        tools: Iterable[str] | None = None,
        info: ShellInfo | None = None,
        sandboxes: Sandboxes | None = None,
        limits: Limits = Limits(),  # noqa: B008 - never changed
    ) -> None:
        self.workspace = os.path.realpath(workspace)
        self.connected = asyncio.Event()
        #: Told of each welcome; for whoever shows the state of the connection.
        self.on_welcome: Callable[[Welcome], None] = lambda _: None
        self.sandboxes = sandboxes or Sandboxes()
        self._find = find
        registry = registry or default_registry()
        offered = [tool.spec.name for tool in registry if tool.spec.executor != "local"] if tools is None else tools
        info = info or ShellInfo(name="reference", version="1")
        self._session = ShellSession(info, self.workspace, offered)
        self._buffers = Buffers()
        self._backend = BufferedBackend(registry, data_dir, self._buffers, private or data_dir, self.sandboxes, limits)
        self._runner = Runner(registry, self._backend, self._streamed)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._outbox: Outbox | None = None
        self._living: asyncio.Task[None] | None = None
        self._pause = FIRST_PAUSE

    # -- its life ----------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> "ReferenceShell":
        self._living = asyncio.create_task(self.run(), name="shell")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._living is not None:
            self._living.cancel()
            with suppress(asyncio.CancelledError):
                await self._living

    async def run(self) -> None:
        """Until cancelled; then everything that it runs for the sidecar is ended first."""
        try:
            await self._backend.sweep()
            while True:
                await self._connection()
                await asyncio.sleep(self._pause * random.uniform(0.5, 1.0))  # noqa: S311 not a secret
                self._pause = min(self._pause * 2, LONGEST_PAUSE)
        finally:
            for task in self._running.values():
                task.cancel()
            if self._running:
                await asyncio.wait(self._running.values())
            await self._backend.close()

    async def _connection(self) -> None:
        endpoint = self._find()
        if endpoint is None:
            return
        try:
            async with connect(
                endpoint.url.replace("http", "ws", 1) + PATH,
                subprotocols=[Subprotocol(SUBPROTOCOL)],
                additional_headers={"Authorization": f"Bearer {endpoint.token}"},
                compression=None,
                proxy=None,
                max_size=2 * FRAME_LIMIT,
                ping_interval=HEARTBEAT,
                ping_timeout=HEARTBEAT,
                close_timeout=1,
            ) as socket:
                await self._talk(socket)
        except (OSError, WebSocketException, TimeoutError) as error:
            log.debug("The bridge is not there: %s", error)

    async def _talk(self, socket: ClientConnection) -> None:
        self._outbox = Outbox(socket)
        writing = asyncio.create_task(self._outbox.write(), name="shell-write")
        try:
            self._outbox.put(self._session.hello())
            async for text in socket:
                self._perform(self._session.receive(text if isinstance(text, str) else ""))
        finally:
            self._outbox = None
            self._session.lost()
            self.connected.clear()
            writing.cancel()
            with suppress(asyncio.CancelledError):
                await writing

    # -- what the editor knows first ---------------------------------------------------------------------------------

    def open_buffer(self, path: str, text: str) -> None:
        """An open file with unsaved changes; call it again with each change."""
        self._buffers.put(self._absolute(path), text.encode())
        self.file_changed(path)

    def close_buffer(self, path: str) -> None:
        self._buffers.drop(self._absolute(path))
        self.file_changed(path)

    def buffer(self, path: str) -> str | None:
        found = self._buffers.get(self._absolute(path))
        return None if found is None else found.content.decode("utf-8", "replace")

    def file_changed(self, *paths: str) -> None:
        self._perform(self._session.notify(NotifyFrame(event="file_changed", paths=list(paths))))

    def diagnostics(self, path: str, found: Sequence[Diagnostic]) -> None:
        self._perform(self._session.notify(NotifyFrame(event="diagnostics", path=path, diagnostics=list(found))))

    def focus(self, path: str) -> None:
        self._perform(self._session.notify(NotifyFrame(event="focus", path=path)))

    # -- what it is asked --------------------------------------------------------------------------------------------

    def _perform(self, effects: Sequence[ShellEffect]) -> None:
        for effect in effects:
            match effect:
                case Send(text):
                    if self._outbox is not None:
                        self._outbox.put(text)
                case Run(call):
                    task = asyncio.create_task(self._carry_out(call), name=f"call-{call.id}")
                    self._running[call.id] = task
                case Stop(call_id):
                    if call_id in self._running:
                        self._running[call_id].cancel()
                case Welcomed(frame):
                    self._pause = FIRST_PAUSE
                    self.connected.set()
                    self.on_welcome(frame)

    async def _carry_out(self, call: OpenCall) -> None:
        try:
            answer = await self._runner.run(call)
        finally:
            self._running.pop(call.id, None)
        try:
            if answer.result is not None:
                effects = self._session.result(call.id, answer.result)
            else:
                error = answer.error or ErrorBody(code="tool_failed", message=f"{call.tool} failed in the shell.")
                effects = self._session.error(call.id, error, answer.killed)
        except PydanticSerializationError:
            error = ErrorBody(code="tool_failed", message=f"The result of {call.tool} cannot be sent as JSON.")
            effects = self._session.error(call.id, error, answer.killed)
        for effect in effects:
            if isinstance(effect, Send) and self._outbox is not None:
                await self._outbox.send(effect.text)

    def _streamed(self, call_id: str, stream: str, text: str) -> None:
        if self._outbox is not None and not self._outbox.full:
            self._perform(self._session.stream(call_id, stream, text))

    def _absolute(self, path: str) -> str:
        return path if Path(path).is_absolute() else f"{self.workspace}/{path}"
