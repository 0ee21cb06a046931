"""What a process printed: head and tail within a cap, the whole in a private file once it no longer fits."""

import codecs
import os
from collections import deque
from pathlib import Path

from tools.host import OUTPUT_PREFIX, ProcessOutput

HEAD = 24 * 1024
TAIL = 24 * 1024
WHOLE = 64 * 1024 * 1024
#: All kept outputs together; the oldest make room for a new one.
_ALL = 512 * 1024 * 1024


class Capture:
    """Without a directory for the whole, only head and tail are kept."""

    def __init__(self, directory: Path | None, name: str, output: ProcessOutput | None) -> None:
        self.log: str | None = None
        self.total = 0
        self._directory = directory
        self._name = name
        self._output = output
        self._decoders = {1: _decoder(), 2: _decoder()}
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._file = -1

    def feed(self, stream: int, data: bytes) -> None:
        if self._output is not None and (text := self._decoders[stream].decode(data)):
            self._output("stdout" if stream == 1 else "stderr", text)
        if self.log is None and self._directory is not None and self.total + len(data) > HEAD + TAIL:
            self._spill(self._directory)
        if self._file >= 0 and self.total < WHOLE:
            os.write(self._file, data[: WHOLE - self.total])
        self.total += len(data)
        room = HEAD - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            while self._tail_size - len(self._tail[0]) >= TAIL:
                self._tail_size -= len(self._tail.popleft())

    def text(self) -> str:
        tail = b"".join(self._tail)
        dropped = self.total - len(self._head) - min(len(tail), TAIL)
        if dropped <= 0:
            return _text(bytes(self._head) + tail)
        rest = "" if self.total <= WHOLE else f", of which the first {WHOLE} bytes are kept"
        place = f"; the whole is in {self.log}, page it with read_file{rest}" if self.log else ""
        return f"{_text(bytes(self._head))}\n… {dropped} bytes left out{place} …\n{_text(tail[-TAIL:])}"

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _spill(self, directory: Path) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = directory / f"{self._name}.log"
        path.unlink(missing_ok=True)
        _make_room(directory)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self.log = f"{OUTPUT_PREFIX}{self._name}.log"
        os.write(self._file, bytes(self._head) + b"".join(self._tail))


def _make_room(directory: Path) -> None:
    kept = sorted((found.st_mtime, found.st_size, place) for place in directory.iterdir() if (found := place.stat()))
    total = WHOLE + sum(size for _, size, _ in kept)
    for _, size, place in kept:
        if total <= _ALL:
            break
        place.unlink(missing_ok=True)
        total -= size


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")("replace")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
