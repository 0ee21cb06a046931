"""The host port on this machine."""

import asyncio
import copy
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from weakref import WeakSet

from tools.errors import PathDenied, ToolError
from tools.host import (
    OUTPUT_PREFIX,
    Blob,
    FileChange,
    FileContent,
    FileInfo,
    Killed,
    ProcessKilled,
    ProcessOutput,
    ProcessResult,
    ScannedFile,
    Snapshot,
)
from tools.local import files
from tools.local.cage import Cage
from tools.local.keeping import read_back, written
from tools.local.listings import Listings
from tools.local.process import Processes
from tools.local.root import WorkspaceRoot
from tools.local.scan import LocalSnapshot, Scanner, Shelf

#: From this size on a read would be felt by everything else that runs here, so a thread does it.
_LARGE = 1 << 20
#: So many files are listed faster than a thread is asked to.
_FEW = 100


class LocalHost:
    def __init__(
        self,
        workspace: str,
        data_dir: Path,
        processes: Processes,
        shelf: Shelf | None = None,
        private: Path | None = None,
        wrote: "Callable[[LocalHost, str], None]" = lambda host, path: None,
    ) -> None:
        self.root = WorkspaceRoot(workspace, private=private or data_dir)
        self.workspace = self.root.path
        self._listings = Listings(self.root)
        self._outputs = data_dir / "output"
        self._processes = processes
        self._writing: dict[str, asyncio.Lock] = {}
        self._cage: Cage | None = None
        self._wrote = wrote
        self._scanner = Scanner(self.root, shelf or Shelf())
        #: Of commands that run at the moment: what is written here meanwhile is not their doing.
        self._snapshots: WeakSet[LocalSnapshot] = WeakSet()

    def confined(self, cage: Cage) -> "LocalHost":
        """The same host, whose commands run inside a sandbox."""
        inside = copy.copy(self)
        inside._cage = cage
        return inside

    def forget(self) -> None:
        """What is held of the files makes room; whoever still has this host can go on with it."""
        self._scanner.close()

    def close(self) -> None:
        self.forget()
        self.root.close()

    async def stat(self, path: str, *, follow: bool = True) -> FileInfo:
        if path.startswith(OUTPUT_PREFIX):
            door, name = self._output(path)
            try:
                return files.stat_file(door, name)
            finally:
                door.close()
        return files.stat_file(self.root, path, follow=follow)

    async def resolve(self, path: str) -> str:
        return self.root.real(path)

    async def read(self, path: str, limit: int, offset: int = 0) -> bytes:
        if path.startswith(OUTPUT_PREFIX):
            door, name = self._output(path)
            try:
                return files.read_file(door, name, limit, offset)
            finally:
                door.close()
        if limit > _LARGE and files.stat_file(self.root, path).size > _LARGE:
            return await asyncio.to_thread(files.read_file, self.root, path, limit, offset)
        return files.read_file(self.root, path, limit, offset)

    async def whole(self, path: str, limit: int) -> tuple[FileInfo, bytes | None]:
        if path.startswith(OUTPUT_PREFIX):
            door, name = self._output(path)
            try:
                return files.whole_file(door, name, limit)
            finally:
                door.close()
        info, content = files.whole_file(self.root, path, min(limit, _LARGE))
        if content is None and info.kind == "file" and info.size <= limit:
            return await asyncio.to_thread(files.whole_file, self.root, path, limit)
        return info, content

    async def list(self, path: str) -> Sequence[FileInfo]:
        return files.list_files(self.root, path)

    async def names(self, path: str) -> Sequence[str]:
        return self._listings.names(path)

    async def apply(self, change: FileChange) -> None:
        name = self.root.relative(change.path)
        lock = self._writing.setdefault(name, asyncio.Lock())
        try:
            async with lock:
                self._wrote(self, name)
                await asyncio.to_thread(files.apply_change, self.root, change)
                self._account_for(change)
        finally:
            if not lock.locked():
                self._writing.pop(name, None)

    async def look(self, path: str, limit: int) -> FileContent | None:
        return await asyncio.to_thread(files.look, self.root, path, limit)

    async def snapshot(self) -> Snapshot:
        taken = self._scanner.quick_snapshot()
        if taken is None:
            taken = await asyncio.to_thread(self._scanner.snapshot)
        self._snapshots.add(taken)
        return taken

    async def changes(self, before: Snapshot) -> Sequence[ScannedFile]:
        assert isinstance(before, LocalSnapshot)
        self._snapshots.discard(before)
        quick = self._scanner.quick_changes(before)
        return quick if quick is not None else await asyncio.to_thread(self._scanner.changes, before)

    async def dump_snapshot(self, snapshot: Snapshot) -> Sequence[bytes]:
        assert isinstance(snapshot, LocalSnapshot)
        return written(snapshot) if len(snapshot.sources) < _FEW else await asyncio.to_thread(written, snapshot)

    async def load_snapshot(self, kept: bytes, blob: Blob) -> Snapshot | None:
        snapshot = await read_back(kept, blob)
        if snapshot is not None:
            self._snapshots.add(snapshot)
        return snapshot

    def _account_for(self, change: FileChange) -> None:
        """Commands that run at the moment did not do this."""
        if self._snapshots:
            with suppress(ToolError):  # it has gone since, and whoever took it away is looked for anyway
                path = self.root.real(change.path)
                for snapshot in self._snapshots:
                    snapshot.record_write(path, change.after)

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
        directory = self.root.open(cwd, os.O_RDONLY | os.O_DIRECTORY)
        try:
            return await self._processes.run(
                argv,
                call_id=call_id,
                cwd=directory,
                timeout=timeout,
                output=output,
                environment=environment,
                killed=killed,
                log=log,
                cage=self._cage,
            )
        finally:
            os.close(directory)

    async def start(
        self, argv: Sequence[str], *, call_id: str, cwd: str = ".", environment: Mapping[str, str] | None = None
    ) -> None:
        directory = self.root.open(cwd, os.O_RDONLY | os.O_DIRECTORY)
        try:
            await self._processes.start(argv, call_id=call_id, cwd=directory, environment=environment, cage=self._cage)
        finally:
            os.close(directory)

    async def poll(self, command_id: str) -> ProcessResult:
        return self._processes.poll(command_id)

    async def stop(self, command_id: str) -> ProcessResult:
        return await self._processes.stop(command_id)

    async def sweep(self, call_id: str) -> Sequence[Killed]:
        return await self._processes.sweep(call_id)

    def _output(self, path: str) -> tuple[WorkspaceRoot, str]:
        name = path.removeprefix(OUTPUT_PREFIX)
        if "/" in name or not name.endswith(".log"):
            raise PathDenied(f"{path} is not the output of a command.")
        return WorkspaceRoot(str(self._outputs)), name
