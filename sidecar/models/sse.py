"""Reads a streamed reply: server-sent events with JSON data, the same for all providers.

The SDKs send the request; this reads the response. Their own readers pass each line through several generators, and
one splits lines at characters inside the text.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing, suppress
from typing import Any

from sidecar.models.encoding import decode_json
from sidecar.models.errors import Failure, ModelFailed
from sidecar.models.limits import MAX_BYTES, endless_error

_DONE = b"[DONE]"
#: Ignored before the first line: whitespace and a byte-order mark.
_LEADING = b"\xef\xbb\xbf \t\r\n"
#: How long to wait for the end of the body after the last event.
LINGER_SECONDS = 0.25

#: Yield to the loop after this many events, a few milliseconds of work.
BATCH_SIZE = 250


class StreamError(Exception):
    """An error event inside the stream; `details` is its data."""

    def __init__(self, details: Any) -> None:
        super().__init__(str(details))
        self.details = details


async def chunks(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[Iterable[Any], None]:
    """The decoded events, in batches as they arrive."""
    events, work = EventParser(), 0
    async with aclosing(pieces):
        async for piece in pieces:
            for together in _batches(list(events.take(piece))):
                if together:
                    yield _chunks(together)
                work += 1 + len(together)
                if work >= BATCH_SIZE:
                    work = 0
                    await asyncio.sleep(0)
            if events.over:
                await _drain(pieces)
                return
        last = list(events.rest())
        if last:
            yield _chunks(last)


def _batches(events: list[tuple[bytes, bytes]]) -> list[list[tuple[bytes, bytes]]]:
    """At least one batch, possibly empty."""
    return [events[start : start + BATCH_SIZE] for start in range(0, max(1, len(events)), BATCH_SIZE)]


async def _drain(pieces: AsyncGenerator[bytes, None]) -> None:
    """Read to the end, so that the connection can be reused. Ignore servers that keep it open or drop it here."""
    with suppress(Exception):
        async with asyncio.timeout(LINGER_SECONDS):
            async for _ in pieces:
                pass


def _chunks(events: Iterable[tuple[bytes, bytes]]) -> Iterator[Any]:
    for name, data in events:
        if name == b"ping":
            continue
        try:
            found = decode_json(data)
        except ValueError:
            if name == b"error":
                raise StreamError(data.decode(errors="replace")) from None
            raise
        # Some servers wrap events, above all errors, in a list.
        for chunk in found if isinstance(found, list) else (found,):
            if name == b"error" or (isinstance(chunk, dict) and chunk.get("error")):
                raise StreamError(chunk)
            if isinstance(chunk, dict):
                yield chunk


class EventParser:
    """Splits bytes into events. The reply of a server that doesn't stream is one event."""

    def __init__(self) -> None:
        #: Whether the final event arrived; ignore what follows.
        self.over = False
        self._kind = b""
        self._pending: list[bytes] = []
        self._size = 0
        self._after_cr = False
        self._name = b""
        self._data: list[bytes] = []

    def take(self, piece: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Name and data of each complete event that has data."""
        if not self._kind:
            piece = piece.lstrip(_LEADING)
            self._kind = piece[:1]
            if self._kind == b"<":
                raise ModelFailed(_web_page())
        self._size += len(piece)
        if self._is_json_body:
            self._pending.append(piece)
        elif piece:
            yield from self._events(self._lines(piece))
        if self._size > MAX_BYTES:
            raise endless_error()

    def rest(self) -> Iterator[tuple[bytes, bytes]]:
        """The last event, if only its closing empty line is missing and its data is complete JSON."""
        begun = b"".join(self._pending)
        if self._is_json_body:
            yield b"", begun
            return
        for event in self._events([begun, b""]):
            with suppress(ValueError):
                decode_json(event[1])
                yield event

    @property
    def _is_json_body(self) -> bool:
        return self._kind in (b"{", b"[")

    def _lines(self, piece: bytes) -> list[bytes]:
        """The complete lines. A line ends with `\\n`, `\\r` or both, possibly split across pieces."""
        if self._after_cr and piece.startswith(b"\n"):
            piece = piece[1:]
        self._after_cr = piece.endswith(b"\r")
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._pending.append(piece)
        if b"\n" not in piece:
            return []
        *lines, rest = b"".join(self._pending).split(b"\n")
        self._pending = [rest]
        return lines

    def _events(self, lines: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif line.startswith(b"event:"):
                self._name = line[6:].strip()
            elif line.startswith(b"error:"):
                # Older llama.cpp sends errors as a field.
                self._name = b"error"
                self._data.append(line[6:].strip())
            elif not line:
                data, name = b"\n".join(self._data), self._name
                self._data, self._name, self._size = [], b"", 0
                if data.startswith(_DONE):
                    self.over = True
                    return
                if data:
                    yield name, data
                if name == b"message_stop":
                    self.over = True
                    return


def _web_page() -> Failure:
    message = "The server answered with a web page. Check the base URL, and whether the network requires a login first."
    return Failure(code="model_unreachable", message=message)
