"""The WebSocket endpoint of the bridge. The guard of `sidecar/api` decides who may connect."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from bridge.dispatcher import Dispatcher
from bridge.session.protocol import BadFrame, TooManyShells, encode_frame, error_frame, parse_shell_frame
from bridge.session.sidecar import SidecarSession
from sidecar.wire.bridge import SUBPROTOCOL, Hello
from sidecar.wire.health import Problem

HELLO_SECONDS = 10.0
#: Frames that may wait for a slow shell. Beyond that it is disconnected; its calls stay open until it returns.
_MAX_FRAMES = 1_024
_MAX_BYTES = 64 * 1024 * 1024

POLICY_VIOLATION = 1008
TRY_AGAIN_LATER = 1013


class BridgeServer:
    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        offered = scope["subprotocols"]
        if offered and SUBPROTOCOL not in offered:
            detail = f"The bridge speaks {SUBPROTOCOL}."
            refused = Problem(title="Bad request", status=400, detail=detail, code="unknown_subprotocol")
            await Response(refused.to_json(), 400, media_type="application/problem+json")(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL if offered else None})
        connection = Connection(send, scope.get("state", {}))
        writing = asyncio.create_task(connection.write(), name="bridge-write")
        try:
            session = await self._await_hello(connection, receive)
            if session is not None:
                await self._listen(session, connection, receive)
        finally:
            connection.close("The connection ended.")
            await writing

    async def _await_hello(self, connection: "Connection", receive: Receive) -> SidecarSession | None:
        """Answers every other frame with an error."""
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                while (text := await _text(receive)) is not None:
                    frame = parse_shell_frame(text)
                    if isinstance(frame, Hello):
                        return self._dispatcher.connect(frame, connection)
                    bad = (
                        frame.answer if isinstance(frame, BadFrame) else error_frame("hello_first", "Say hello first.")
                    )
                    connection.send(encode_frame(bad))
        except TimeoutError:
            connection.close("No hello in time.", POLICY_VIOLATION)
        except TooManyShells as error:
            connection.close(str(error), TRY_AGAIN_LATER)
        return None

    async def _listen(self, session: SidecarSession, connection: "Connection", receive: Receive) -> None:
        try:
            while (text := await _text(receive)) is not None:
                self._dispatcher.receive(session, connection, text)
        finally:
            self._dispatcher.disconnect(session, connection)


async def _text(receive: Receive) -> str | None:
    """The next frame, or `None` at the end. Binary data counts as a bad frame."""
    message = await receive()
    if message["type"] == "websocket.disconnect":
        return None
    text = message.get("text")
    return text if isinstance(text, str) else ""


class Connection:
    """The sending side of one shell's connection. Frames wait here for a slow shell, up to a limit."""

    def __init__(self, send: Send, state: Mapping[str, Any]) -> None:
        self._send = send
        self._write_now: Callable[[str], bool] | None = state.get("write_now")
        self._abort: Callable[[], None] | None = state.get("abort")
        self._writing = False
        self._frames: deque[str] = deque()
        self._size = 0
        self._more = asyncio.Event()
        self._closing: Message | None = None

    def send(self, text: str) -> None:
        if self._closing is not None:
            return
        idle = not self._frames and not self._writing
        if idle and self._write_now is not None and self._write_now(text):
            return
        self._frames.append(text)
        self._size += len(text)
        if len(self._frames) > _MAX_FRAMES or (self._size > _MAX_BYTES and len(self._frames) > 1):
            self._frames.clear()
            self.close("The shell does not read.", POLICY_VIOLATION)
            if self._abort is not None:
                self._abort()
            return
        self._more.set()

    def close(self, reason: str, code: int = 1000) -> None:
        if self._closing is None:
            self._closing = {"type": "websocket.close", "code": code, "reason": reason}
            self._more.set()

    async def write(self) -> None:
        # The receiving side notices a lost shell.
        with suppress(OSError, RuntimeError):
            while True:
                self._writing = True
                while self._frames:
                    text = self._frames.popleft()
                    self._size -= len(text)
                    await self._send({"type": "websocket.send", "text": text})
                self._writing = False
                if self._closing is not None:
                    await self._send(self._closing)
                    return
                self._more.clear()
                await self._more.wait()
