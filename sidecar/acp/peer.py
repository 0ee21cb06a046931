"""The client at the other end of standard input and output: calls in both directions, concurrently."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from sidecar.acp import calls
from sidecar.acp.rpc import (
    INTERNAL_ERROR,
    CancelInvoke,
    Cancelled,
    Invoke,
    Json,
    Outgoing,
    RequestId,
    Resolve,
    RpcError,
    RpcSession,
    failure,
    notification,
    success,
)

log = logging.getLogger(__name__)

#: A prompt may carry images.
MAX_LINE = 64 * 1024 * 1024

#: Runs a method; raises `RpcError` for an error answer.
Handler = Callable[[str, Json], Awaitable[object]]


class ByteWriter(Protocol):
    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...


class Editor(Protocol):
    """What the agent sends to an editor, as messages of version 1."""

    #: Whether the agent repeats what you say in this editor, or the editor shows it by itself.
    echoes: bool

    def notify(self, method: str, params: Json) -> None: ...

    async def request(self, method: str, params: Json) -> Any: ...

    async def drain(self) -> None: ...

    def diffs(self, text: str, workspace: str) -> list[Json]:
        """A unified diff as content of a tool call."""


class EditorConnection:
    echoes = False

    def __init__(self, reader: asyncio.StreamReader, writer: ByteWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._session = RpcSession()
        self._answers: dict[RequestId, asyncio.Future[Any]] = {}
        self._running: dict[RequestId, asyncio.Task[None]] = {}
        self._notified: set[asyncio.Task[None]] = set()

    async def serve(self, handler: Handler) -> None:
        """Handle the client's calls until it closes its end."""
        try:
            while line := await self._read_line():
                self._perform(self._session.receive(line.decode("utf-8", "replace")), handler)
        finally:
            for future in self._answers.values():
                future.cancel()
            for task in (*self._running.values(), *self._notified):
                task.cancel()

    def notify(self, method: str, params: Json) -> None:
        self._write(notification(method, params))

    async def request(self, method: str, params: Json) -> Any:
        """The client's answer; a cancelled wait withdraws the request."""
        request_id, line = self._session.request(method, params)
        future = self._answers[request_id] = asyncio.get_running_loop().create_future()
        self._write(line)
        try:
            return await future
        finally:
            self._answers.pop(request_id, None)
            if (withdrawal := self._session.withdraw(request_id)) is not None:
                self._write(withdrawal)

    async def drain(self) -> None:
        await self._writer.drain()

    def diffs(self, text: str, workspace: str) -> list[Json]:
        return calls.diff_blocks(text, workspace)

    async def _read_line(self) -> bytes:
        try:
            return await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as end:
            return end.partial
        except asyncio.LimitOverrunError:
            log.error("The client sent a line of more than %d bytes; closing.", MAX_LINE)
            return b""

    def _perform(self, effect: Invoke | Resolve | CancelInvoke | Outgoing | None, handler: Handler) -> None:
        match effect:
            case Outgoing(line):
                self._write(line)
            case Resolve(request_id, result, error):
                future = self._answers.get(request_id)
                if future is not None and not future.done():
                    future.set_exception(error) if error is not None else future.set_result(result)
            case CancelInvoke(request_id):
                if request_id in self._running:
                    self._running[request_id].cancel()
            case Invoke(None, method, params):
                task = asyncio.create_task(self._notification(handler, method, params))
                self._notified.add(task)
                task.add_done_callback(self._notified.discard)
            case Invoke(request_id, method, params) if request_id is not None:
                self._running[request_id] = asyncio.create_task(self._call(handler, request_id, method, params))

    async def _call(self, handler: Handler, request_id: RequestId, method: str, params: Json) -> None:
        try:
            answer = success(request_id, await handler(method, params))
        except RpcError as error:
            answer = failure(request_id, error)
        except asyncio.CancelledError:
            answer = failure(request_id, Cancelled())
        except Exception:
            log.exception("%s failed", method)
            answer = failure(request_id, RpcError(INTERNAL_ERROR, f"{method} failed; see the log on standard error."))
        self._running.pop(request_id, None)
        self._write(answer)

    async def _notification(self, handler: Handler, method: str, params: Json) -> None:
        try:
            await handler(method, params)
        except RpcError as error:
            log.warning("%s: %s", method, error)
        except Exception:
            log.exception("%s failed", method)

    def _write(self, line: str) -> None:
        self._writer.write(line.encode("utf-8", "replace") + b"\n")
