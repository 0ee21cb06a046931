"""A streamed reply, as all providers send it: server-sent events whose data is JSON.

The SDKs ask, and what comes is read here. Their own readers hand each line through several generators, and one of them
takes some characters inside a text for the end of a line.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from typing import Any

from sidecar.models.errors import Unusable
from sidecar.models.history import decoded
from sidecar.models.lines import ENDLESS, MOST_BYTES
from sidecar.models.port import Failure

_DONE = b"[DONE]"


class BrokenOff(Exception):
    """An error inside a stream that had begun well; `details` is what the server says of it."""

    def __init__(self, details: Any) -> None:
        super().__init__(str(details))
        self.details = details


async def chunks(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[Iterable[Any], None]:
    """What comes together is handed on together.

    Heard to the end, also past the last word: only then is the connection free for the next request.
    """
    events, done = Events(), False
    async with aclosing(pieces):
        async for piece in pieces:
            together = list(events.take(piece))
            last = next((place for place, (_, data) in enumerate(together) if data.startswith(_DONE)), len(together))
            if not done and last:
                yield (_chunk(name, data) for name, data in together[:last])
            done = done or last < len(together)


async def whole(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[Iterable[Any], None]:
    """The reply of a server that knows no streams: one chunk, when all of it is there."""
    body = bytearray()
    async with aclosing(pieces):
        async for piece in pieces:
            body += piece
            if len(body) > MOST_BYTES:
                raise Unusable(Failure(code="reply_too_long", message=ENDLESS, retry=False))
    yield [_chunk(b"", bytes(body))]


def _chunk(name: bytes, data: bytes) -> Any:
    try:
        chunk = decoded(data)
    except ValueError:
        if name == b"error":
            raise BrokenOff(data.decode(errors="replace")) from None
        raise
    if name == b"error" or chunk.get("error"):
        raise BrokenOff(chunk)
    return chunk


class Events:
    """Whatever the slices that a stream comes in, its events are whole."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []
        self._name = b""
        self._data = b""

    def take(self, piece: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The name and the data of each event that is whole by now, and has data."""
        self._begun.append(piece)
        if b"\n" not in piece:
            return
        *lines, rest = b"".join(self._begun).split(b"\n")
        self._begun = [rest]
        for line in lines:
            if line.startswith(b"data:"):
                more = line[5:].strip()
                self._data = b"\n".join((self._data, more)) if self._data else more
            elif line.startswith(b"event:"):
                self._name = line[6:].strip()
            elif line in (b"", b"\r"):
                if self._data:
                    yield self._name, self._data
                self._name = self._data = b""
