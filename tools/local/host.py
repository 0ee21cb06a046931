"""The host port on this machine."""

import asyncio
import copy
import os
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from weakref import WeakSet, WeakValueDictionary

from sidecar.cache import Stamp
from sidecar.config.paths import closed_after
from tools.environments import ProjectEnvironment, find_environment
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
from tools.local.attribution.trace import UNATTRIBUTED, CommandTrace, dumped_name, find_attribution_problem
from tools.local.confinement import Confinement
from tools.local.processes import Processes
from tools.local.repository.git import Git
from tools.local.repository.view import RepositoryViews
from tools.local.root import WorkspaceRoot, name_to_text
from tools.local.sandbox.access import SandboxTier
from tools.local.sandbox.probe import Sandboxes
from tools.local.scan import Scanner
from tools.local.snapshots import LocalSnapshot, MemoryBudget, decode_snapshot, encode_snapshot
from tools.local.special_files import SpecialFiles
from tools.local.temporary import TRACES

#: Reading more than this would block everything else here, so a thread does it.
_LARGE_BYTES = 1 << 20
#: Reading fewer is quicker than asking a thread to.
_SMALL_BYTES = 64 * 1024
#: Listing fewer files is quicker than asking a thread to.
_FEW_FILES = 100
_MAX_CACHED_DIRECTORIES = 64
#: Reads in a row without a thread, after which other tasks get their turn.
_READS_IN_A_ROW = 32


class LocalHost:
    """`record_write` hears of every file that a tool changes."""

    def __init__(
        self,
        workspace: str,
        data_dir: Path,
        processes: Processes,
        memory: MemoryBudget | None = None,
        private: Sequence[Path] = (),
        record_write: "Callable[[LocalHost, str], None]" = lambda host, path: None,
        sandboxes: Sandboxes | None = None,
        trusted: Callable[[str], bool] = lambda workspace: False,
    ) -> None:
        self.root = WorkspaceRoot(workspace, (data_dir, *private))
        self.workspace = self.root.path
        self._names: OrderedDict[str, tuple[Stamp, list[str]]] = OrderedDict()
        self._outputs = data_dir / "output"
        self._processes = processes
        self._writing: dict[str, asyncio.Lock] = {}
        self._confinement: Confinement | None = None
        #: Whether it reads files that may hold secrets.
        self._secrets = False
        self._record_write = record_write
        self._sandboxes = sandboxes
        self._hidden = tuple({str(place.absolute()) for place in (data_dir, *private)})
        self._trusted = trusted
        self._special = SpecialFiles()
        self._git = Git(self.workspace, RepositoryViews(), self._special)
        #: What Git was kept from doing for this call.
        self.git_notes: dict[str, None] = {}
        self._scanner = Scanner(self.root, memory or MemoryBudget(), self._read_objects)
        #: Snapshots of running commands: what this host writes meanwhile is not their doing.
        self._snapshots: WeakSet[LocalSnapshot] = WeakSet()
        self._traces: WeakValueDictionary[str, CommandTrace] = WeakValueDictionary()
        self._trace_directory = data_dir / TRACES
        #: Whether commands may be traced: that takes from them the right to gain rights.
        self.attributes: Callable[[], Awaitable[bool]] = _always
        self._reads = 0

    def confined(self, confinement: Confinement) -> "LocalHost":
        """The same host, with its commands confined."""
        inside = copy.copy(self)
        inside._confinement = confinement
        inside.git_notes = {}
        return inside

    def for_one_call(self) -> "LocalHost":
        """The same host, with notes of its own."""
        inside = copy.copy(self)
        inside.git_notes = {}
        return inside

    def with_secrets(self) -> "LocalHost":
        """The same host, also for files that may hold secrets, once a person allowed that."""
        open_host = copy.copy(self)
        open_host._secrets = True
        return open_host

    def free_memory(self) -> None:
        """Drop cached contents. The host still works."""
        self._scanner.close()

    def close(self) -> None:
        self.free_memory()
        self.root.close()

    async def _take_turns(self) -> None:
        """Small reads need no thread, so a caller that reads thousands of files would never let the loop go on."""
        self._reads += 1
        if self._reads % _READS_IN_A_ROW == 0:
            await asyncio.sleep(0)

    async def stat(self, path: str, *, follow: bool = True) -> FileInfo:
        await self._take_turns()
        root, name = self._locate(path)
        return files.stat_file(root, name, follow=follow)

    async def resolve(self, path: str) -> str:
        return self.root.real(path)

    async def read(self, path: str, limit: int, offset: int = 0) -> bytes:
        await self._take_turns()
        root, name = self._locate(path)
        if limit > _LARGE_BYTES and files.stat_file(root, name).size > _LARGE_BYTES:
            return await asyncio.to_thread(files.read_file, root, name, limit, offset, secrets=self._secrets)
        return files.read_file(root, name, limit, offset, secrets=self._secrets)

    async def whole(self, path: str, limit: int) -> tuple[FileInfo, bytes | None]:
        await self._take_turns()
        root, name = self._locate(path)
        info, content = files.whole_file(root, name, min(limit, _LARGE_BYTES), secrets=self._secrets)
        if content is None and info.kind == "file" and info.size <= limit:
            return await asyncio.to_thread(files.whole_file, root, name, limit, secrets=self._secrets)
        return info, content

    async def list(self, path: str) -> Sequence[FileInfo]:
        return await asyncio.to_thread(files.list_directory, self.root, path)

    async def names(self, path: str) -> Sequence[str]:
        """Cached while the directory doesn't change; callers must not change the list."""
        with files.open_directory(self.root, path) as (handle, _):
            stamp = Stamp.at(handle)
        cached = self._names.get(path)
        if cached is not None and cached[0] == stamp:
            return cached[1]
        stamp, steady, listed = await asyncio.to_thread(_read_names, self.root, path)
        if steady:
            self._names[path] = stamp, listed
            while len(self._names) > _MAX_CACHED_DIRECTORIES:
                self._names.popitem(last=False)
        return listed

    async def apply(self, change: FileChange) -> None:
        (error,) = await self.apply_all([change])
        if error is not None:
            raise error

    async def apply_all(self, changes: Sequence[FileChange]) -> Sequence[ToolError | None]:
        async with AsyncExitStack() as locks:
            # In one order, so that no two wait for each other.
            for name in sorted({self.root.relative(change.path) for change in changes}):
                await locks.enter_async_context(self._lock(name))
                self._record_write(self, name)
            errors: list[ToolError | None] = [await self._tell_traces(change.path) for change in changes]
            free = [number for number, error in enumerate(errors) if error is None]
            applied = await asyncio.to_thread(files.apply_changes, self.root, [changes[number] for number in free])
            for number, error in zip(free, applied, strict=True):
                errors[number] = error
                if error is None:
                    self._tell_snapshots(changes[number])
            return errors

    async def remove_empty_folders(self, paths: Sequence[str]) -> None:
        await asyncio.to_thread(files.remove_empty_folders, self.root, paths)

    @asynccontextmanager
    async def _lock(self, name: str) -> AsyncIterator[None]:
        lock = self._writing.setdefault(name, asyncio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():
                self._writing.pop(name, None)

    async def look(self, path: str, limit: int) -> FileContent | None:
        await self._take_turns()
        if self.root.seems_regular(path, _SMALL_BYTES):
            return files.look(self.root, path, limit)
        return await asyncio.to_thread(files.look, self.root, path, limit)

    async def snapshot(self, call_id: str | None = None) -> Snapshot:
        if call_id is not None and not await find_attribution_problem() and await self.attributes():
            log = self._trace_directory / f"{secrets.token_hex(8)}.log"
            # Reading a large index takes a while.
            slow = self._scanner.must_read()
            trace = await asyncio.to_thread(self._scanner.trace, log) if slow else self._scanner.trace(log)
            self._traces[call_id] = trace
            return trace
        taken = self._scanner.quick_snapshot()
        if taken is None:
            taken = await asyncio.to_thread(self._scanner.snapshot)
        self._snapshots.add(taken)
        return taken

    async def changes(self, before: Snapshot) -> Sequence[ScannedFile]:
        if isinstance(before, CommandTrace):
            for stopping in before.stop():
                await asyncio.wrap_future(stopping)
            return [] if before.is_empty else await asyncio.to_thread(before.changes)
        assert isinstance(before, LocalSnapshot)
        self._snapshots.discard(before)
        found = self._scanner.quick_changes(before)
        if found is None:
            found = await asyncio.to_thread(self._scanner.changes, before)
        return [each._replace(doubt=UNATTRIBUTED) for each in found]

    async def forget(self, snapshot: Snapshot) -> None:
        if isinstance(snapshot, CommandTrace) and snapshot.has_log:
            await asyncio.to_thread(snapshot.forget)

    async def dump_snapshot(self, snapshot: Snapshot) -> Sequence[bytes]:
        if isinstance(snapshot, CommandTrace):
            return (snapshot.dump(),)
        assert isinstance(snapshot, LocalSnapshot)
        if len(snapshot.sources) < _FEW_FILES:
            return encode_snapshot(snapshot)
        return await asyncio.to_thread(encode_snapshot, snapshot)

    async def load_snapshot(self, kept: bytes, blob: Blob) -> Snapshot | None:
        if (name := dumped_name(kept)) is not None:
            return await asyncio.to_thread(self._scanner.restored_trace, self._trace_directory / name)
        snapshot = await decode_snapshot(kept, blob)
        if snapshot is not None:
            self._snapshots.add(snapshot)
        return snapshot

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
        project = self._environment(cwd)
        if argv[0].rpartition("/")[2] == "rg":
            await self._check_ignore_files()
        with self._directory(cwd) as directory:
            return await self._processes.run(
                argv,
                call_id=call_id,
                cwd=directory,
                timeout=timeout,
                output=output,
                environment=environment,
                killed=killed,
                log=log,
                confinement=_with_readable(self._confinement, project) or await self._looking(),
                attribution=self._traces.get(call_id),
                project=project,
            )

    async def git(
        self,
        words: Sequence[str],
        *,
        call_id: str,
        timeout: float,
        output: ProcessOutput,
        killed: ProcessKilled | None = None,
    ) -> ProcessResult:
        confinement = self._confinement or await self._looking()
        trusted = self._trusted(self.workspace)
        command = await asyncio.to_thread(self._git.command, words, confinement, os.environ, trusted=trusted)
        self.git_notes.update(dict.fromkeys(command.notes))
        with self._directory(".") as directory:
            return await self._processes.run(
                command.argv,
                call_id=call_id,
                cwd=directory,
                timeout=timeout,
                output=output,
                environment=command.environment,
                killed=killed,
                log=False,
                confinement=command.confinement,
                attribution=self._traces.get(call_id),
            )

    async def start(
        self, argv: Sequence[str], *, call_id: str, cwd: str = ".", environment: Mapping[str, str] | None = None
    ) -> None:
        project = self._environment(cwd)
        with self._directory(cwd) as directory:
            await self._processes.start(
                argv,
                call_id=call_id,
                cwd=directory,
                environment=environment,
                confinement=_with_readable(self._confinement, project),
                attribution=self._traces.get(call_id),
                project=project,
            )

    async def poll(self, command_id: str, wait: float = 0) -> ProcessResult:
        return await self._processes.poll(command_id, wait)

    async def stop(self, command_id: str) -> ProcessResult:
        return await self._processes.stop(command_id)

    async def sweep(self, call_id: str) -> Sequence[Killed]:
        return await self._processes.sweep(call_id)

    def _environment(self, cwd: str) -> ProjectEnvironment | None:
        """For commands of the model and of the project; our own searches find no program of the workspace."""
        return None if self._confinement is None else find_environment(self.workspace, cwd)

    async def _check_ignore_files(self) -> None:
        if special := await asyncio.to_thread(self._special.find, self.workspace):
            advice = "Tell the user; it must go."
            raise ToolError(f"{special}, and a search would open it.", advice=advice, code="search_failed")

    async def searches_inside(self) -> bool:
        return (self._confinement or await self._looking()) is not None

    async def _looking(self) -> Confinement | None:
        """For our own searches and Git: they read the workspace, and reach nothing else."""
        return None if self._sandboxes is None else self._reading(await self._sandboxes.find_reader())

    def _reading(self, sandbox: SandboxTier | None) -> Confinement | None:
        if sandbox is None:
            return None
        return Confinement(sandbox, None, self.workspace, private=self._hidden, writes=False, system=False)

    def _read_objects(self, names: Sequence[bytes]) -> dict[bytes, bytes]:
        confinement = None if self._sandboxes is None else self._reading(self._sandboxes.reader())
        return self._git.read_objects(names, confinement)

    async def _tell_traces(self, path: str) -> ToolError | None:
        """The error if a running command has the file open for writing."""
        for trace in list(self._traces.values()):
            with suppress(ToolError):
                if not await asyncio.to_thread(trace.other_write, self.root.real(path)):
                    return files.being_written(path)
        return None

    def _tell_snapshots(self, change: FileChange) -> None:
        if self._snapshots:
            with suppress(ToolError):  # somebody removed it since, and the scan reports that anyway
                path = self.root.real(change.path)
                for snapshot in self._snapshots:
                    snapshot.record_write(path, change.after)

    def _locate(self, path: str) -> tuple[WorkspaceRoot, str]:
        """The workspace, or for `output:` paths the directory of the commands' output, which closes by itself."""
        if not path.startswith(OUTPUT_PREFIX):
            return self.root, path
        name = path.removeprefix(OUTPUT_PREFIX)
        if "/" in name or not name.endswith(".log"):
            raise PathDenied(f"{path} is not the output of a command.")
        return WorkspaceRoot(str(self._outputs)), name

    @contextmanager
    def _directory(self, path: str) -> Iterator[int]:
        with closed_after(self.root.open(path, os.O_RDONLY | os.O_DIRECTORY)) as handle:
            yield handle


def _with_readable(confinement: Confinement | None, project: ProjectEnvironment | None) -> Confinement | None:
    """The same, and the project's environment can be read where it is outside the workspace."""
    if confinement is None or project is None or not project.home:
        return confinement
    if project.home.startswith(f"{confinement.workspace}/"):
        return confinement
    return replace(confinement, readable=(*confinement.readable, project.home))


async def _always() -> bool:
    return True


def _read_names(root: WorkspaceRoot, path: str) -> tuple[Stamp, bool, list[str]]:
    """In a thread, which opens and closes the directory itself: a cancelled call must not close it meanwhile."""
    with files.open_directory(root, path) as (handle, found):
        stamp = Stamp.at(handle)
        steady = stamp.steady()
        names = [f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name for entry in found]
    return stamp, steady, sorted(map(name_to_text, names))
