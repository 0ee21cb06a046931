"""uvicorn's HTTP protocol within limits: no peer holds a connection or memory by not finishing what it began."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from sidecar.api.limits import ConnectionLimits
from sidecar.api.problems import problem_body

#: Requests a peer may send before it has read the first answer.
MAX_PIPELINED = 64


class LimitedProtocol(HttpToolsProtocol):
    def __init__(self, *, limits: ConnectionLimits, **given: Any) -> None:
        super().__init__(**given)
        self._limits = limits
        self._trusted = False
        #: Between the first byte of a request and its last.
        self._receiving = False
        #: Between the first byte of a request and the end of its headers.
        self._in_headers = False
        self._began = False
        self._header_bytes = 0
        self._header_count = 0
        self._body_bytes = 0
        self._held = 0
        self._deadline: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    # -- the connection ----------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        unheard = self._limits.unheard
        unheard[self] = None
        if len(unheard) > self._limits.silent:
            next(iter(unheard)).abort()
        self._expect(self._limits.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        # The guard decides before the handshake ends, and the bridge has deadlines of its own.
        self._leave()
        super().handle_websocket_upgrade()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._abort_if_unread()

    def pause_writing(self) -> None:
        super().pause_writing()
        if not self._trusted:
            self._expect(self._limits.stranger_body_seconds)

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self._trusted and not self._receiving:
            self._deadline = None

    # -- the request -------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._deadline is None:
            # Also for bytes that begin no request, such as empty lines.
            self._expect(self._limits.header_seconds)
        self._began = False
        if self in self._limits.unheard:
            del self._limits.unheard[self]
            self._limits.waiting[self] = None
        super().data_received(data)
        waiting = self._limits.waiting
        if len(waiting) > self._limits.strangers:
            next(iter(waiting)).abort()
        if self._in_headers:
            # Data may begin with the rest of another request; headers that are incomplete contain no empty line.
            end = data.rfind(b"\r\n\r\n") if self._began else -1
            self._header_bytes += len(data) if end < 0 else len(data) - end - 4
            if self._header_bytes > self._limits.header_bytes:
                self._refuse_headers()
        elif self.headers is not None and len(self.headers) > self._header_count:
            self._refuse(400, "trailers", "Trailers after the body are not accepted.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._receiving = self._in_headers = self._began = True
        self._header_bytes = self._header_count = 0
        self._expect(self._limits.header_seconds)

    def on_headers_complete(self) -> None:
        limits = self._limits
        self._header_count = len(self.headers)
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > limits.header_bytes:
            self._refuse_headers()
        if len(self.pipeline) >= MAX_PIPELINED:
            self.abort()
        if not self._trusted and limits.authenticate(self.headers):
            self._trust()
        if self.transport.is_closing():
            raise ConnectionError("The request was refused.")
        self._in_headers = False
        self._body_bytes = 0
        self._expect(limits.body_seconds if self._trusted else limits.stranger_body_seconds)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        limits = self._limits
        if not self._trusted:
            # One byte more than allowed reaches the guard, which refuses it; the rest is dropped.
            body = body[: max(0, limits.stranger_body_bytes + 1 - self._body_bytes)]
            self._body_bytes += len(body)
            if body:
                super().on_body(body)
            return
        self._held += len(body)
        limits.held += len(body)
        if limits.held > limits.held_bytes and self._held > limits.small_body_bytes:
            self._refuse(503, "too_many_bodies", "Too many large requests are unfinished. Try again.")
            return
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._receiving = False
        self._deadline = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._release()
        super().on_response_complete()

    # -- deadlines and refusals --------------------------------------------------------------------------------------

    def _expect(self, seconds: float) -> None:
        """What is under way must end within this time. One timer serves many requests."""
        self._deadline = self.loop.time() + seconds
        if self._timer is not None and self._timer.when() > self._deadline:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self.loop.call_at(self._deadline, self._check_deadline)

    def _check_deadline(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        if self.loop.time() < self._deadline:
            self._timer = self.loop.call_at(self._deadline, self._check_deadline)
            return
        self._refuse(408, "too_slow", "The request did not arrive in time.")

    def _refuse_headers(self) -> None:
        self._refuse(431, "headers_too_large", f"Headers may have at most {self._limits.header_bytes} bytes.")

    def _refuse(self, status: int, code: str, detail: str) -> None:
        """Answer, unless another answer has begun, and close."""
        if self.transport.is_closing():
            return
        if self._may_answer():
            body = problem_body(status, code, detail).encode()
            self.transport.write(
                STATUS_LINE[status]
                + b"content-type: application/problem+json\r\nx-content-type-options: nosniff\r\nconnection: close\r\n"
                + b"content-length: %d\r\n\r\n" % len(body)
                + body
            )
        self.transport.close()
        self._abort_if_unread()

    def _may_answer(self) -> bool:
        cycle = self.cycle
        if self._in_headers:
            return cycle is None or cycle.response_complete
        return self._receiving and not (cycle.response_started or self.pipeline)

    def _abort_if_unread(self) -> None:
        """Closing waits until the peer has read everything, which it may never do."""
        if self.transport.get_write_buffer_size():
            self.abort()

    def abort(self) -> None:
        self._leave()
        self.transport.abort()

    def _trust(self) -> None:
        self._trusted = True
        limits = self._limits
        limits.waiting.pop(self, None)
        if len(limits.trusted) >= limits.connections:
            self._refuse(503, "too_many_connections", "Too many connections are open; close one.")
            return
        limits.trusted.add(self)

    def _release(self) -> None:
        self._limits.held -= self._held
        self._held = 0

    def _leave(self) -> None:
        self._release()
        self._deadline = None
        self._limits.unheard.pop(self, None)
        self._limits.waiting.pop(self, None)
        self._limits.trusted.discard(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
