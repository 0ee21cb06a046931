"""The WebSocket of the bridge: frames in, frames out. Who may connect is decided before this is asked."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from bridge.dispatcher import Dispatcher
from bridge.session import Bad, SidecarSession, TooManyShells, read_shell_frame
from bridge.session.frames import refusal, written
from sidecar.wire.bridge import SUBPROTOCOL, Hello

HELLO_SECONDS = 10.0
#: What may wait for a shell that does not read. More, and it is dropped; its calls stay open until it is back.
MOST_FRAMES = 1_024
MOST_BYTES = 64 * 1024 * 1024

POLICY_VIOLATION = 1008
TRY_AGAIN_LATER = 1013


class BridgeServer:
    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        offered = scope["subprotocols"]
        if offered and SUBPROTOCOL not in offered:
            refused = PlainTextResponse(f"The bridge speaks {SUBPROTOCOL}.", 400)
            await refused(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL if offered else None})
        connection = Connection(send, scope.get("state", {}))
        writing = asyncio.create_task(connection.write(), name="bridge-write")
        try:
            session = await self._greeted(connection, receive)
            if session is not None:
                await self._listen(session, connection, receive)
        finally:
            connection.close("The connection ended.")
            await writing

    async def _greeted(self, connection: "Connection", receive: Receive) -> SidecarSession | None:
        """Waits for the shell to say hello; whatever else it says is answered with an error."""
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                while (text := await _text(receive)) is not None:
                    frame = read_shell_frame(text)
                    if isinstance(frame, Hello):
                        return self._dispatcher.connect(frame, connection)
                    bad = frame.answer if isinstance(frame, Bad) else refusal("hello_first", "Say hello first.")
                    connection.send(written(bad))
        except TimeoutError:
            connection.close("Nobody said hello.", POLICY_VIOLATION)
        except TooManyShells as error:
            connection.close(str(error), TRY_AGAIN_LATER)
        return None

    async def _listen(self, session: SidecarSession, connection: "Connection", receive: Receive) -> None:
        try:
            while (text := await _text(receive)) is not None:
                self._dispatcher.receive(session, connection, text)
        finally:
            self._dispatcher.lost(session, connection)


async def _text(receive: Receive) -> str | None:
    """The next frame; nothing when there is no more. Bytes are no frame, and are answered like any other bad one."""
    message = await receive()
    if message["type"] == "websocket.disconnect":
        return None
    text = message.get("text")
    return text if isinstance(text, str) else ""


class Connection:
    """The way out to one shell: frames wait here for as long as the shell is slow, up to a limit."""

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
        if len(self._frames) > MOST_FRAMES or (self._size > MOST_BYTES and len(self._frames) > 1):
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
        # A shell that is gone is noticed where it is listened to; here it only means that nothing can be written.
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
