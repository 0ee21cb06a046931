"""Versions of files, and the file in which those from before a command's changes outlast this process.

Each entry is written before the change that it describes may happen, so a killed sidecar knows of every change. One
line of JSON, then the content. An entry that is cut off describes a change that never happened.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from tools.local.root import Stamp, name_to_text, text_to_name

#: How often a running command's log says that this process still lives.
BEAT_SECONDS = 1.0
_SLACK_NS = 2_000_000_000
_CHUNK = 1 << 20
_LOST = "The content from before the command was not kept."


class Stored(NamedTuple):
    """A content in the log."""

    offset: int
    size: int


class Version(NamedTuple):
    """A file at one moment; without a mode there is none. If the content isn't kept, `why` says why."""

    mode: int | None
    content: bytes | Stored | None = None
    why: str = ""
    mark: bytes = b""
    stamp: Stamp | None = None

    def same(self, other: "Version") -> bool:
        if self.why or other.why:
            return self.stamp is not None and self.stamp == other.stamp
        return self.mode == other.mode and self.mark == other.mark


MISSING = Version(None)


def mark_of(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


class VersionEntry(NamedTuple):
    """The file before the command changed it, or, where somebody else went on, after."""

    path: str
    after: bool
    version: Version


class VersionLog:
    """Created with its first entry."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = -1
        self._size = 0
        self._beat = 0.0

    def append(self, path: str, version: Version, *, after: bool = False, private: bool = False) -> Version:
        """The version with its content in the log; a private content stays in memory."""
        content = version.content if isinstance(version.content, bytes) else None
        stored = content is not None and not private
        head: dict[str, Any] = {"path": name_to_text(path), "after": after, "mode": version.mode}
        head["why"] = version.why or ("" if stored or version.mode is None else _LOST)
        head["size"] = len(content) if content is not None and stored else None
        line = json.dumps(head).encode() + b"\n"
        self._write(line + (content if content is not None and stored else b""))
        if content is None or not stored:
            return version
        return version._replace(content=Stored(self._size - len(content), len(content)))

    def read(self, version: Version) -> bytes | None:
        if not isinstance(version.content, Stored):
            return version.content
        data = os.pread(self._open(), version.content.size, version.content.offset)
        return data if len(data) == version.content.size else None

    def beat(self) -> None:
        """Mark that this process lives, at most once a second."""
        if self._handle >= 0 and time.monotonic() - self._beat >= BEAT_SECONDS:
            self._beat = time.monotonic()
            with suppress(OSError):
                os.utime(self._handle)

    def last_beat(self) -> int:
        """When the process that wrote it certainly still lived, in nanoseconds."""
        return os.fstat(self._open()).st_mtime_ns + _SLACK_NS

    def entries(self) -> Iterator[VersionEntry]:
        """Raises `OSError` or `ValueError` if there is no log of this kind."""
        handle = self._open()
        data, place, end = b"", 0, os.fstat(handle).st_size
        while place < end:
            data = os.pread(handle, 16_384, place)
            line, found, _ = data.partition(b"\n")
            if not found:
                return
            head = json.loads(line)
            place += len(line) + 1
            size = head["size"]
            content = Stored(place, size) if size is not None else None
            place += size or 0
            if place > end:
                return
            if content is None:
                version = Version(head["mode"], None, head["why"])
            else:
                version = Version(head["mode"], content, "")
                version = version._replace(mark=mark_of(self.read(version) or b""))
            yield VersionEntry(text_to_name(head["path"]), head["after"], version)

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    @property
    def exists(self) -> bool:
        """Whether this process wrote or read it."""
        return self._handle >= 0

    def remove(self) -> None:
        self.close()
        with suppress(OSError):
            self.path.unlink()

    def _write(self, data: bytes) -> None:
        handle = self._open(create=True)
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        self._size += len(data)

    def _open(self, *, create: bool = False) -> int:
        if self._handle < 0:
            if create:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT if create else 0)
            self._handle = os.open(self.path, flags, 0o600)
            self._size = os.fstat(self._handle).st_size
        return self._handle
