"""The output of a process: head and tail within a cap, and all of it in a private file once it doesn't fit."""

import codecs
import os
from collections import deque
from pathlib import Path

from tools.host import OUTPUT_PREFIX, ProcessOutput

_HEAD_BYTES = 24 * 1024
_TAIL_BYTES = 24 * 1024
_FILE_BYTES = 64 * 1024 * 1024
#: All output files together; the oldest make room for a new one.
_ALL_FILES_BYTES = 512 * 1024 * 1024


class OutputCapture:
    """Without a directory it keeps only head and tail."""

    def __init__(self, directory: Path | None, name: str, output: ProcessOutput | None) -> None:
        self.log: str | None = None
        self._total = 0
        self._directory = directory
        self._name = name
        self._output = output
        self._decoders = {number: codecs.getincrementaldecoder("utf-8")("replace") for number in (1, 2)}
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._file = -1

    def feed(self, stream: int, data: bytes) -> None:
        if self._output is not None and (text := self._decoders[stream].decode(data)):
            self._output("stdout" if stream == 1 else "stderr", text)
        if self.log is None and self._directory is not None and self._total + len(data) > _HEAD_BYTES + _TAIL_BYTES:
            self._open_file(self._directory)
        if self._file >= 0 and self._total < _FILE_BYTES:
            os.write(self._file, data[: _FILE_BYTES - self._total])
        self._total += len(data)
        room = _HEAD_BYTES - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            while self._tail_size - len(self._tail[0]) >= _TAIL_BYTES:
                self._tail_size -= len(self._tail.popleft())

    def text(self) -> str:
        head, tail = bytes(self._head), b"".join(self._tail)
        dropped = self._total - len(head) - min(len(tail), _TAIL_BYTES)
        if dropped <= 0:
            return (head + tail).decode("utf-8", "replace")
        cut = "" if self._total <= _FILE_BYTES else f" (only its first {_FILE_BYTES} bytes)"
        where = f"; all of it is in {self.log}{cut}, page it with read_file" if self.log else ""
        end = tail[-_TAIL_BYTES:].decode("utf-8", "replace")
        return f"{head.decode('utf-8', 'replace')}\n… {dropped} bytes left out{where} …\n{end}"

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open_file(self, directory: Path) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = directory / f"{self._name}.log"
        path.unlink(missing_ok=True)
        _make_room(directory)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self.log = f"{OUTPUT_PREFIX}{self._name}.log"
        os.write(self._file, bytes(self._head) + b"".join(self._tail))


def _make_room(directory: Path) -> None:
    files = sorted((found.st_mtime, found.st_size, place) for place in directory.iterdir() if (found := place.stat()))
    total = _FILE_BYTES + sum(size for _, size, _ in files)
    for _, size, place in files:
        if total <= _ALL_FILES_BYTES:
            break
        place.unlink(missing_ok=True)
        total -= size
