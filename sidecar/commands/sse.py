"""Server-sent events, read without I/O: bytes in, messages out, however the bytes were cut."""

from typing import NamedTuple


class Message(NamedTuple):
    id: str | None
    data: str


class Parser:
    def __init__(self) -> None:
        self._rest = b""
        self._id: str | None = None
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[Message]:
        """The messages that these bytes complete. Comments, which keep a stream alive, complete none."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        messages = []
        for line in lines:
            text = line.removesuffix(b"\r").decode("utf-8", "replace")
            if text:
                self._field(text)
            elif self._data:
                messages.append(Message(self._id, "\n".join(self._data)))
                self._id, self._data = None, []
        return messages

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
