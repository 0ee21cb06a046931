"""A streamed reply, as all providers send it: server-sent events whose data is JSON.

The SDKs ask, and what comes is read here. Their own readers hand each line through several generators, and one of them
takes some characters inside a text for the end of a line.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing, suppress
from typing import Any

from sidecar.models.bounds import MOST_BYTES, endless
from sidecar.models.errors import Unusable
from sidecar.models.history import decoded
from sidecar.models.port import Failure

_DONE = b"[DONE]"
#: What may stand before the first line and says nothing: empty lines, and a mark that this is Unicode.
_NOTHING_YET = b"\xef\xbb\xbf \t\r\n"
#: How long is listened for the end of a stream whose last word was said. Most come with it.
LINGER_SECONDS = 0.25

#: So many events, or slices of one, take a few milliseconds.
AT_ONCE = 250


class BrokenOff(Exception):
    """An error inside a stream that had begun well; `details` is what the server says of it."""

    def __init__(self, details: Any) -> None:
        super().__init__(str(details))
        self.details = details


async def chunks(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[Iterable[Any], None]:
    """What comes together is handed on together, unless it is so much that others would wait for their turn."""
    events, work = Events(), 0
    async with aclosing(pieces):
        async for piece in pieces:
            for together in _parted(list(events.take(piece))):
                if together:
                    yield _chunks(together)
                work += 1 + len(together)
                if work >= AT_ONCE:
                    work = 0
                    await asyncio.sleep(0)
            if events.over:
                await _heard_out(pieces)
                return
        last = list(events.rest())
        if last:
            yield _chunks(last)


def _parted(events: list[tuple[bytes, bytes]]) -> list[list[tuple[bytes, bytes]]]:
    """At least one part, which may be empty."""
    return [events[start : start + AT_ONCE] for start in range(0, max(1, len(events)), AT_ONCE)]


async def _heard_out(pieces: AsyncGenerator[bytes, None]) -> None:
    """Only when its end was heard is the connection free for the next request. But who keeps it open, or breaks it off
    there, has said all there was to say."""
    with suppress(Exception):
        async with asyncio.timeout(LINGER_SECONDS):
            async for _ in pieces:
                pass


def _chunks(events: Iterable[tuple[bytes, bytes]]) -> Iterator[Any]:
    for name, data in events:
        if name == b"ping":
            continue
        try:
            found = decoded(data)
        except ValueError:
            if name == b"error":
                raise BrokenOff(data.decode(errors="replace")) from None
            raise
        # Some put what they send into a list, errors above all; what is no object, nobody means anything by.
        for chunk in found if isinstance(found, list) else (found,):
            if name == b"error" or (isinstance(chunk, dict) and chunk.get("error")):
                raise BrokenOff(chunk)
            if isinstance(chunk, dict):
                yield chunk


class Events:
    """Whatever the slices that a stream comes in, its events are whole. The reply of a server that knows no streams,
    whatever it calls that, is one event."""

    def __init__(self) -> None:
        #: Whether the last word was said: what follows does not count.
        self.over = False
        self._kind = b""
        self._begun: list[bytes] = []
        self._size = 0
        self._returned = False
        self._name = b""
        self._data: list[bytes] = []

    def take(self, piece: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The name and the data of each event that is whole by now, and has data."""
        if not self._kind:
            piece = piece.lstrip(_NOTHING_YET)
            self._kind = piece[:1]
            if self._kind == b"<":
                raise Unusable(_a_page())
        self._size += len(piece)
        if self._in_one_piece:
            self._begun.append(piece)
        elif piece:
            yield from self._events(self._lines(piece))
        if self._size > MOST_BYTES:
            raise endless()

    def rest(self) -> Iterator[tuple[bytes, bytes]]:
        """What the end of the stream makes whole. An event that only lacks its empty line is told from one that was cut
        by its data."""
        begun = b"".join(self._begun)
        if self._in_one_piece:
            yield b"", begun
            return
        for event in self._events([begun, b""]):
            with suppress(ValueError):
                decoded(event[1])
                yield event

    @property
    def _in_one_piece(self) -> bool:
        return self._kind in (b"{", b"[")

    def _lines(self, piece: bytes) -> list[bytes]:
        """Those that are whole. A line ends with `\\n`, `\\r` or both, which may come apart."""
        if self._returned and piece.startswith(b"\n"):
            piece = piece[1:]
        self._returned = piece.endswith(b"\r")
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._begun.append(piece)
        if b"\n" not in piece:
            return []
        *lines, rest = b"".join(self._begun).split(b"\n")
        self._begun = [rest]
        return lines

    def _events(self, lines: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif line.startswith(b"event:"):
                self._name = line[6:].strip()
            elif line.startswith(b"error:"):
                # Older llama.cpp has a field for it.
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


def _a_page() -> Failure:
    message = (
        "The server answered with a web page instead of a reply. Is the base URL right? Does the network ask to log in "
        "first?"
    )
    return Failure(code="model_unreachable", message=message)
