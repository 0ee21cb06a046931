"""The reference shell: connects, reconnects, and runs each call once."""

import asyncio
import logging
import os
import random
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pydantic_core import PydanticSerializationError
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.typing import Subprotocol

from bridge.session.protocol import RunCall, Send, ShellEffect, StopCall, Welcomed
from bridge.session.shell import ShellSession
from bridge.shell.backend import BufferedBackend, CallRunner, ShellCallRunner
from bridge.shell.buffers import Buffers
from sidecar.wire.base import ErrorBody
from sidecar.wire.bridge import FRAME_LIMIT, SUBPROTOCOL, Diagnostic, NotifyFrame, OpenCall, ShellInfo, Welcome
from tools.executor.registry import Registry, default_registry
from tools.local.confinement import CommandLimits
from tools.local.sandbox.probe import Sandboxes

log = logging.getLogger(__name__)

_PATH = "/api/brain/bridge"
_FIRST_PAUSE = 0.05
_MAX_PAUSE = 5.0
_HEARTBEAT_SECONDS = 15.0
_MAX_WAITING = 256


class Endpoint(NamedTuple):
    """Where the sidecar is. Looked up for each connection: a restart makes a new token, maybe a new port."""

    url: str
    token: str


#: Blocks: it asks the program at that address for a proof first.
FindEndpoint = Callable[[], Endpoint | None]


class Outbox:
    """Frames on their way to the sidecar. When they pile up, live output is skipped; answers never are."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._frames: deque[str] = deque()
        self._more = asyncio.Event()

    @property
    def full(self) -> bool:
        return len(self._frames) >= _MAX_WAITING

    def put(self, text: str) -> None:
        self._frames.append(text)
        self._more.set()

    async def send(self, text: str) -> None:
        """Send at once, if nothing waits."""
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
            return  # the sidecar asks again for unsent answers after the reconnect


class ReferenceShell:
    """`async with ReferenceShell(…) as shell` stays connected, whatever happens in between.

    `private` are the sidecar's directories, which no tool may touch; `data_dir` is the shell's own. Its commands run
    in the best of `sandboxes`, like the sidecar's.
    """

    def __init__(
        self,
        workspace: Path,
        find: FindEndpoint,
        data_dir: Path,
        *,
        private: Sequence[Path] = (),
        registry: Registry | None = None,
        tools: Iterable[str] | None = None,
        info: ShellInfo | None = None,
        sandboxes: Sandboxes | None = None,
        limits: CommandLimits = CommandLimits(),  # noqa: B008 - never changed
    ) -> None:
        self.workspace = os.path.realpath(workspace)
        self.connected = asyncio.Event()
        #: Called at each welcome.
        self.on_welcome: Callable[[Welcome], None] = lambda _: None
        self.sandboxes = sandboxes or Sandboxes()
        self._find = find
        registry = registry or default_registry()
        offered = [tool.spec.name for tool in registry if tool.spec.executor != "local"] if tools is None else tools
        info = info or ShellInfo(name="reference", version="1")
        self._session = ShellSession(info, self.workspace, offered)
        self.buffers = Buffers()
        self._backend = BufferedBackend(registry, data_dir, self.buffers, private, self.sandboxes, limits)
        #: Runs the calls; another one may be put in front of it.
        self.runner: CallRunner = ShellCallRunner(registry, self._backend, self._send_output)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._outbox: Outbox | None = None
        self._task: asyncio.Task[None] | None = None
        self._pause = _FIRST_PAUSE

    async def __aenter__(self) -> "ReferenceShell":
        self._task = asyncio.create_task(self.run(), name="shell")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def run(self) -> None:
        """Runs until cancelled, and then ends everything that it runs for the sidecar."""
        try:
            await self._backend.sweep()
            while True:
                await self._connect()
                await asyncio.sleep(self._pause * random.uniform(0.5, 1.0))  # noqa: S311 not a secret
                self._pause = min(self._pause * 2, _MAX_PAUSE)
        finally:
            for task in self._running.values():
                task.cancel()
            if self._running:
                await asyncio.wait(self._running.values())
            await self._backend.close()

    async def _connect(self) -> None:
        endpoint = await asyncio.to_thread(self._find)
        if endpoint is None:
            return
        try:
            async with connect(
                endpoint.url.replace("http", "ws", 1) + _PATH,
                subprotocols=[Subprotocol(SUBPROTOCOL)],
                additional_headers={"Authorization": f"Bearer {endpoint.token}"},
                compression=None,
                proxy=None,
                max_size=2 * FRAME_LIMIT,
                ping_interval=_HEARTBEAT_SECONDS,
                ping_timeout=_HEARTBEAT_SECONDS,
                close_timeout=1,
            ) as socket:
                await self._talk(socket)
        except (OSError, WebSocketException, TimeoutError) as error:
            log.debug("Can't connect to the bridge: %s", error)

    async def _talk(self, socket: ClientConnection) -> None:
        self._outbox = Outbox(socket)
        writing = asyncio.create_task(self._outbox.write(), name="shell-write")
        try:
            self._outbox.put(self._session.hello())
            async for text in socket:
                self._perform(self._session.receive(text if isinstance(text, str) else ""))
        finally:
            self._outbox = None
            self._session.disconnect()
            self.connected.clear()
            writing.cancel()
            with suppress(asyncio.CancelledError):
                await writing

    # -- for the editor ----------------------------------------------------------------------------------------------

    def open_buffer(self, path: str, text: str) -> None:
        """Set an open file with unsaved changes; call it at each change."""
        self.buffers.put(self._absolute(path), text.encode())
        self.file_changed(path)

    def close_buffer(self, path: str) -> None:
        self.buffers.drop(self._absolute(path))
        self.file_changed(path)

    def buffer(self, path: str) -> str | None:
        found = self.buffers.get(self._absolute(path))
        return None if found is None else found.content.decode("utf-8", "replace")

    def file_changed(self, *paths: str) -> None:
        self._perform(self._session.notify(NotifyFrame(event="file_changed", paths=list(paths))))

    def diagnostics(self, path: str, found: Sequence[Diagnostic]) -> None:
        self._perform(self._session.notify(NotifyFrame(event="diagnostics", path=path, diagnostics=list(found))))

    def focus(self, path: str) -> None:
        self._perform(self._session.notify(NotifyFrame(event="focus", path=path)))

    # -- for the sidecar ---------------------------------------------------------------------------------------------

    def _perform(self, effects: Sequence[ShellEffect]) -> None:
        for effect in effects:
            match effect:
                case Send(text):
                    if self._outbox is not None:
                        self._outbox.put(text)
                case RunCall(call):
                    task = asyncio.create_task(self._run_call(call), name=f"call-{call.id}")
                    self._running[call.id] = task
                case StopCall(call_id):
                    if call_id in self._running:
                        self._running[call_id].cancel()
                case Welcomed(frame):
                    self._pause = _FIRST_PAUSE
                    self.connected.set()
                    self.on_welcome(frame)

    async def _run_call(self, call: OpenCall) -> None:
        try:
            answer = await self.runner.run(call)
        finally:
            self._running.pop(call.id, None)
        try:
            if answer.result is not None:
                effects = self._session.result(call.id, answer.result)
            else:
                error = answer.error or ErrorBody(code="tool_failed", message=f"{call.tool} failed in the shell.")
                effects = self._session.error(call.id, error, answer.killed)
        except PydanticSerializationError:
            error = ErrorBody(code="tool_failed", message=f"The result of {call.tool} can't be sent as JSON.")
            effects = self._session.error(call.id, error, answer.killed)
        for effect in effects:
            if isinstance(effect, Send) and self._outbox is not None:
                await self._outbox.send(effect.text)

    def _send_output(self, call_id: str, stream: str, text: str) -> None:
        if self._outbox is not None and not self._outbox.full:
            self._perform(self._session.stream(call_id, stream, text))

    def _absolute(self, path: str) -> str:
        return path if Path(path).is_absolute() else f"{self.workspace}/{path}"
