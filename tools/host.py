"""The host port: files, processes and editor knowledge of one workspace.

`LocalHost` serves it on this machine; in a desktop shell, a host that knows the open buffers does. A tool doesn't know
which one it has and never calls the operating system itself. Paths are relative to the workspace, with `/`. A host
raises `ToolError` when it can't do something.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeGuard, runtime_checkable

from tools.errors import ToolError

#: Path prefix of a command's full output, stored outside the workspace; only `read`, `whole` and `stat` accept it.
OUTPUT_PREFIX = "output:"
_COLLECTED = 4 * 1024 * 1024


class FileInfo(NamedTuple):
    path: str
    kind: Literal["file", "directory", "symlink", "other"]
    size: int
    mtime_ns: int
    inode: int
    mode: int
    ctime_ns: int = 0
    links: int = 1


class FileChange(NamedTuple):
    """A file before and after; `None` is a file that does not exist. Recovery after a crash compares the two.

    `mode` is the mode afterwards; `None` keeps it. The content of a symlink is its target. `was` is the mode before,
    needed only for files that were symlinks. The path of a `located` file has no links, and none that appears is
    followed.
    """

    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    was: int | None = None
    located: bool = False


class FileContent(NamedTuple):
    """Content and mode of a file; for a symlink, its target and a link's mode."""

    content: bytes
    mode: int


class Killed(NamedTuple):
    """A process that was killed because its call ended."""

    pid: int
    command: str


class ProcessResult(NamedTuple):
    """How a process ended. While it runs, `exit_code` is `None` and `running` is true.

    `output` is capped to its head and tail; if it was cut, `log` is the path of the full output, for `read`.
    """

    exit_code: int | None
    output: str
    timed_out: bool
    duration_ms: float
    killed: tuple[Killed, ...] = ()
    log: str | None = None
    running: bool = False
    #: Why it was killed, if not for its time limit.
    why: str = ""
    #: Its sandbox has a network of its own, so no other command reaches its ports.
    isolated: bool = False

    @property
    def ending(self) -> str:
        code = self.exit_code if self.exit_code is not None else -1
        return self.why or (f"exit code {code}" if code >= 0 else f"signal {-code}")


class EnoughOutput(Exception):
    """Raised by an output callback to stop the process: it has enough."""


class OutputCollector:
    """Collects the output of a program that a tool runs for itself, up to a limit."""

    def __init__(self, limit: int = _COLLECTED) -> None:
        self._parts: dict[str, list[str]] = {"stdout": [], "stderr": []}
        self._room = limit
        self.cut = False

    def __call__(self, stream: str, text: str) -> None:
        self._parts[stream].append(text[: self._room])
        self._room -= len(text)
        if self._room <= 0:
            self.cut = True
            raise EnoughOutput

    @property
    def text(self) -> str:
        return "".join(self._parts["stdout"])

    @property
    def errors(self) -> str:
        return "".join(self._parts["stderr"])


class ProcessOutput(Protocol):
    def __call__(self, stream: str, text: str) -> None: ...


class ProcessKilled(Protocol):
    def __call__(self, pid: int, command: str) -> None: ...


class Host(Protocol):
    workspace: str

    async def stat(self, path: str, *, follow: bool = True) -> FileInfo: ...

    async def read(self, path: str, limit: int, offset: int = 0) -> bytes:
        """At most `limit` bytes of a regular file, starting at `offset`."""

    async def whole(self, path: str, limit: int) -> tuple[FileInfo, bytes | None]:
        """Information on a path, and its content if it is a regular file of at most `limit` bytes."""

    async def list(self, path: str) -> Sequence[FileInfo]:
        """The entries of a directory, sorted by name; links aren't followed."""

    async def names(self, path: str) -> Sequence[str]:
        """The sorted names in a directory; subdirectories end with `/`. Faster than `list`."""

    async def apply(self, change: FileChange) -> None:
        """Write atomically; fail if the content is no longer `before`."""

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
        """Run until it ends, times out or is cancelled; no process it started survives. `killed` gets each one killed.

        Without `log`, output beyond the cap is dropped, for tools that collect `output` themselves.
        """

    async def git(
        self,
        words: Sequence[str],
        *,
        call_id: str,
        timeout: float,
        output: ProcessOutput,
        killed: ProcessKilled | None = None,
    ) -> ProcessResult:
        """Run Git in the workspace's repository, without the programs that the repository's configuration names."""

    async def start(
        self, argv: Sequence[str], *, call_id: str, cwd: str = ".", environment: Mapping[str, str] | None = None
    ) -> None:
        """Run in the background. The command's id is the id of the call that started it."""

    async def poll(self, command_id: str, wait: float = 0) -> ProcessResult:
        """What a background command printed so far; `wait` is how many seconds to wait for its end."""

    async def stop(self, command_id: str) -> ProcessResult: ...

    async def sweep(self, call_id: str) -> Sequence[Killed]:
        """Kill processes that a call left behind in an earlier run of the sidecar."""


class ResolvingHost(Host, Protocol):
    """A host that resolves links, so that a link can't be another name for a protected file."""

    async def resolve(self, path: str) -> str:
        """The path without links, relative to the workspace; it need not exist."""

    def with_secrets(self) -> Host:
        """The same host, also for files that may hold secrets; without it, `read` and `whole` refuse those."""


def resolves_links(host: Host) -> TypeGuard[ResolvingHost]:
    # Several times for each call, where `isinstance` with a protocol takes long.
    return hasattr(host, "resolve") and hasattr(host, "with_secrets")


class Snapshot(Protocol):
    """The state of a workspace at one moment. Only the host that took it can read it."""

    #: Why it holds no files; empty if it does.
    partial: str

    def record_write(self, path: str, content: bytes | None) -> None:
        """Count a write by someone else as if it had been there from the start.

        The host itself knows of the changes that it applies.
        """


class ScannedFile(NamedTuple):
    """A file that a command changed. If its content isn't stored, `not_saved` says why."""

    path: str
    before: FileContent | None
    after: FileContent | None
    not_saved: str = ""
    #: Why it isn't known that the command changed it, or only the command; empty if it is.
    doubt: str = ""
    #: How many folders around a created file the command created as well.
    folders: int = 0


@runtime_checkable
class ScanningHost(Host, Protocol):
    """A host that finds what a command did to files."""

    async def snapshot(self, call_id: str | None = None) -> Snapshot:
        """Before a command. If this host itself runs the command of that call, it attributes changes where it can."""

    async def forget(self, snapshot: Snapshot) -> None:
        """Drop a snapshot: its changes are recorded, or not needed."""

    async def dump_snapshot(self, snapshot: Snapshot) -> Sequence[bytes]:
        """The snapshot as blobs that outlast this process; the first lists the others.

        Empty if that is too much to write before a command.
        """

    async def load_snapshot(self, kept: bytes, blob: "Blob") -> Snapshot | None:
        """The snapshot that an earlier process dumped, if it can be read."""

    async def changes(self, before: Snapshot) -> Sequence[ScannedFile]:
        """The files that changed since the snapshot."""

    async def apply_all(self, changes: Sequence[FileChange]) -> Sequence[ToolError | None]:
        """As `apply`, each for itself, and quicker than one by one: the error of each that failed."""

    async def remove_empty_folders(self, paths: Sequence[str]) -> None:
        """Remove those of these folders that are empty, in this order."""

    async def look(self, path: str, limit: int) -> FileContent | None:
        """A file, or a link as a link; `None` if there is none. A file longer than `limit` yields one byte more."""


@runtime_checkable
class SearchingHost(Host, Protocol):
    async def searches_inside(self) -> bool:
        """Whether a search can read nothing but the workspace, whatever is exchanged for a link meanwhile."""


class Blob(Protocol):
    """Loads a content by its digest."""

    async def __call__(self, digest: str, /) -> bytes | None: ...


def can_scan(host: Host) -> TypeGuard[ScanningHost]:
    return hasattr(host, "snapshot")
