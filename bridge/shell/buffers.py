"""Open, unsaved buffers: what you see in the editor wins over the file on disk."""

import os
import time
from typing import NamedTuple

from tools.errors import ChangedElsewhere, FileMissing, SecretFile
from tools.host import FileChange, FileInfo
from tools.local.host import LocalHost
from tools.protected import secret_part


class Buffer(NamedTuple):
    content: bytes
    changed_ns: int


class Buffers:
    """By the file's real path; the file need not exist."""

    def __init__(self) -> None:
        self._open: dict[str, Buffer] = {}

    def put(self, path: str, content: bytes) -> None:
        self._open[os.path.realpath(path)] = Buffer(content, time.time_ns())

    def drop(self, path: str) -> None:
        self._open.pop(os.path.realpath(path), None)

    def get(self, path: str) -> Buffer | None:
        return self._open.get(os.path.realpath(path)) if self._open else None


class BufferHost(LocalHost):
    """A host that reads and changes open files in their buffers. Commands see the disk."""

    buffers: Buffers

    async def stat(self, path: str, *, follow: bool = True) -> FileInfo:
        buffer = self._buffer(path) if follow else None
        if buffer is None:
            return await super().stat(path, follow=follow)
        try:
            mode = (await super().stat(path)).mode
        except FileMissing:
            mode = 0o644
        size, changed = len(buffer.content), buffer.changed_ns
        return FileInfo(path, "file", size, changed, inode=0, mode=mode, ctime_ns=changed)

    async def read(self, path: str, limit: int, offset: int = 0) -> bytes:
        buffer = self._buffer(path)
        if buffer is None:
            return await super().read(path, limit, offset)
        self._refuse_secret(path)
        return buffer.content[offset : offset + limit]

    async def whole(self, path: str, limit: int) -> tuple[FileInfo, bytes | None]:
        buffer = self._buffer(path)
        if buffer is None:
            return await super().whole(path, limit)
        self._refuse_secret(path)
        return await self.stat(path), buffer.content if len(buffer.content) <= limit else None

    async def apply(self, change: FileChange) -> None:
        """Changes the buffer and saves it, so that a following command sees the change too."""
        buffer = self._buffer(change.path)
        if buffer is None:
            await super().apply(change)
            return
        if change.before != buffer.content:
            raise ChangedElsewhere(f"{change.path} was edited meanwhile. Read it again, then repeat your change.")
        try:
            saved: bytes | None = await super().read(change.path, (await super().stat(change.path)).size + 1)
        except FileMissing:
            saved = None
        if saved != change.after:
            await super().apply(change._replace(before=saved))
        if change.after is None:
            self.buffers.drop(self._absolute(change.path))
        else:
            self.buffers.put(self._absolute(change.path), change.after)

    def _refuse_secret(self, path: str) -> None:
        real = os.path.realpath(self._absolute(path))
        if not self._secrets and (name := secret_part(real.removeprefix(self.workspace))):
            raise SecretFile(path, name)

    def _buffer(self, path: str) -> Buffer | None:
        return self.buffers.get(self._absolute(path)) if "\0" not in path else None

    def _absolute(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.workspace}/{path}"
