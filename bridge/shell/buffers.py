"""Open, unsaved buffers: what you see in the editor wins over the file on disk."""

import os
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tools.errors import ChangedElsewhere, FileMissing
from tools.host import FileChange, FileInfo, Host, Killed, ProcessKilled, ProcessOutput, ProcessResult


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


class BufferHost:
    """A host that reads and changes open files in their buffers. Commands see the disk."""

    def __init__(self, beneath: Host, buffers: Buffers) -> None:
        self.workspace = beneath.workspace
        self._beneath = beneath
        self._buffers = buffers

    async def stat(self, path: str, *, follow: bool = True) -> FileInfo:
        buffer = self._buffer(path) if follow else None
        if buffer is None:
            return await self._beneath.stat(path, follow=follow)
        try:
            mode = (await self._beneath.stat(path)).mode
        except FileMissing:
            mode = 0o644
        size, changed = len(buffer.content), buffer.changed_ns
        return FileInfo(path, "file", size, changed, inode=0, mode=mode, ctime_ns=changed)

    async def read(self, path: str, limit: int, offset: int = 0) -> bytes:
        buffer = self._buffer(path)
        if buffer is None:
            return await self._beneath.read(path, limit, offset)
        return buffer.content[offset : offset + limit]

    async def whole(self, path: str, limit: int) -> tuple[FileInfo, bytes | None]:
        buffer = self._buffer(path)
        if buffer is None:
            return await self._beneath.whole(path, limit)
        return await self.stat(path), buffer.content if len(buffer.content) <= limit else None

    async def list(self, path: str) -> Sequence[FileInfo]:
        return await self._beneath.list(path)

    async def names(self, path: str) -> Sequence[str]:
        return await self._beneath.names(path)

    async def apply(self, change: FileChange) -> None:
        """Changes the buffer and saves it, so that a following command sees the change too."""
        buffer = self._buffer(change.path)
        if buffer is None:
            await self._beneath.apply(change)
            return
        if change.before != buffer.content:
            raise ChangedElsewhere(f"{change.path} was edited meanwhile. Read it again, then repeat your change.")
        try:
            saved: bytes | None = await self._beneath.read(
                change.path, (await self._beneath.stat(change.path)).size + 1
            )
        except FileMissing:
            saved = None
        if saved != change.after:
            await self._beneath.apply(change._replace(before=saved))
        if change.after is None:
            self._buffers.drop(self._absolute(change.path))
        else:
            self._buffers.put(self._absolute(change.path), change.after)

    async def run(
        self,
        argv: Sequence[str],
        *,
        call_id: str,
        cwd: str = ".",
        timeout: float,
        output: ProcessOutput,
        environment: Mapping[str, str] | None = None,
        killed: ProcessKilled | None = None,
        log: bool = True,
    ) -> ProcessResult:
        return await self._beneath.run(
            argv,
            call_id=call_id,
            cwd=cwd,
            timeout=timeout,
            output=output,
            environment=environment,
            killed=killed,
            log=log,
        )

    async def start(
        self, argv: Sequence[str], *, call_id: str, cwd: str = ".", environment: Mapping[str, str] | None = None
    ) -> None:
        await self._beneath.start(argv, call_id=call_id, cwd=cwd, environment=environment)

    async def poll(self, command_id: str) -> ProcessResult:
        return await self._beneath.poll(command_id)

    async def stop(self, command_id: str) -> ProcessResult:
        return await self._beneath.stop(command_id)

    async def sweep(self, call_id: str) -> Sequence[Killed]:
        return await self._beneath.sweep(call_id)

    def _buffer(self, path: str) -> Buffer | None:
        return self._buffers.get(self._absolute(path)) if "\0" not in path else None

    def _absolute(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.workspace}/{path}"
