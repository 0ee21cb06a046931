"""A bridge over a real loopback WebSocket, in this process, with any shell on the other end."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from bridge.backend import BridgeBackend
from bridge.dispatcher import Dispatcher
from bridge.editor_state import EditorState
from bridge.server import BridgeServer
from bridge.session.sidecar import Sessions
from bridge.shell.shell import Endpoint, ReferenceShell
from sidecar.api.limits import ConnectionLimits
from sidecar.api.server import QuietServer, open_socket
from sidecar.api.streams import Streams
from sidecar.wire.bridge import SUBPROTOCOL
from tests.waiting import SECONDS
from tools.executor.registry import default_registry
from tools.local.sandbox.probe import Sandboxes
from tools.spec import Call, ToolResult


@dataclass
class Loopback:
    url: str
    dispatcher: Dispatcher
    backend: BridgeBackend
    changed: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def reference_shell(self, workspace: Path, data_dir: Path, **options: Any) -> AsyncIterator[ReferenceShell]:
        # A process has the same number inside as outside, so that a test can look for it.
        options = {"sandboxes": Sandboxes("off"), **options}
        async with ReferenceShell(workspace, lambda: Endpoint(self.url, "token"), data_dir, **options) as shell:
            await asyncio.wait_for(shell.connected.wait(), SECONDS)
            yield shell

    @asynccontextmanager
    async def raw_shell(self, workspace: Path, *tools: str, **more: Any) -> AsyncIterator["RawShell"]:
        address = self.url.replace("http", "ws", 1)
        async with connect(address, subprotocols=[SUBPROTOCOL], proxy=None, compression=None, **more) as socket:  # type: ignore[list-item]
            yield RawShell(socket, str(workspace), list(tools))


class RawShell:
    """A shell written by hand, by the letter of the wire."""

    def __init__(self, socket: ClientConnection, workspace: str, tools: list[str]) -> None:
        self.socket = socket
        self._workspace = workspace
        self._tools = tools

    async def hello(self, **more: Any) -> dict[str, Any]:
        shell = {"name": "raw", "version": "1"}
        await self.send(type="hello", shell=shell, workspace=self._workspace, tools=self._tools, **more)
        return await self.next("welcome")

    async def send(self, **frame: Any) -> None:
        await self.socket.send(json.dumps(frame))

    async def next(self, kind: str | None = None) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(await asyncio.wait_for(self.socket.recv(), SECONDS))
        assert kind is None or frame["type"] == kind, frame
        return frame

    async def result(self, call_id: str, content: str) -> None:
        await self.send(type="tool_result", id=call_id, result={"content": content})


@asynccontextmanager
async def loopback(*, reconnect_seconds: float = 30.0, heartbeat_seconds: float = 15.0) -> AsyncIterator[Loopback]:
    changed: list[str] = []
    sessions = Sessions(reconnect_seconds=reconnect_seconds, heartbeat_seconds=heartbeat_seconds)
    dispatcher = Dispatcher(sessions, EditorState(changed.append))
    server = QuietServer(BridgeServer(dispatcher), Streams(1), heartbeat_seconds, ConnectionLimits(lambda _: False))
    socket = open_socket("127.0.0.1", 0)
    serving = asyncio.create_task(server.serve([socket]))
    await server.listening.wait()
    url = f"http://127.0.0.1:{socket.getsockname()[1]}"
    try:
        yield Loopback(url, dispatcher, BridgeBackend(dispatcher), changed)
    finally:
        server.stop()
        await serving


def start_call(
    bridge: Loopback,
    tool: str,
    call_id: str,
    workspace: Path,
    seconds: float = 30.0,
    reports: list[object] | None = None,
    **args: object,
) -> asyncio.Task[ToolResult]:
    found = [] if reports is None else reports
    call = Call(call_id, str(workspace), seconds, {}, lambda pid, command: found.append((pid, command)))
    work = bridge.backend.run(
        default_registry().get(tool), args, call, lambda stream, text: found.append((stream, text))
    )  # type: ignore[arg-type]
    return asyncio.create_task(work)
