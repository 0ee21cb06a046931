"""The host port: what a tool may ask of the machine it works on.

`LocalHost` does it here. In a desktop shell the same port is served by a host that knows the open buffers. A tool does
not know which one it has, and never asks the operating system itself. Paths are relative to the workspace, with `/`;
where a host cannot do what it is asked, it raises a `ToolError`.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

#: The path prefix of a command's whole output, kept outside of the workspace; only `read`, `whole` and `stat` know it.
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
    """A file before and after: `None` is a file that does not exist. Settled after a crash by comparing the two.

    `mode` is what it has afterwards: as it was if nothing is said. A content whose mode is a link's is where the link
    leads; `was` is the mode before, needed only to tell that it was a link.
    """

    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    was: int | None = None


class FileContent(NamedTuple):
    """What stands at a path: the content and the mode; of a link, where it leads and a link's mode."""

    content: bytes
    mode: int


class Killed(NamedTuple):
    """A process that was ended because its call was, by its number and its command line."""

    pid: int
    command: str


class ProcessResult(NamedTuple):
    """How a process ended; while it runs, `exit_code` is `None` and `running` is true.

    `output` is its head and tail within the cap; the whole stands in `log`, a path for `read`, if it was cut.
    """

    exit_code: int | None
    output: str
    timed_out: bool
    duration_ms: float
    killed: tuple[Killed, ...] = ()
    log: str | None = None
    running: bool = False
    #: What ended it, if it was neither itself nor its time limit.
    why: str = ""


class EnoughOutput(Exception):
    """Raised by who listens to a process: no more is needed, it may be ended."""


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
    """Files, processes, and what an editor knows, of one workspace."""

    workspace: str

    async def stat(self, path: str, *, follow: bool = True) -> FileInfo: ...

    async def read(self, path: str, limit: int, offset: int = 0) -> bytes:
        """At most `limit` bytes of a regular file, from `offset` on."""

    async def whole(self, path: str, limit: int) -> tuple[FileInfo, bytes | None]:
        """What stands there, and all of its content if it is a regular file of at most `limit` bytes."""

    async def list(self, path: str) -> Sequence[FileInfo]:
        """The entries of a directory by name; links are not followed."""

    async def names(self, path: str) -> Sequence[str]:
        """The names in a directory, in order, those of directories with a `/` at the end. Quicker than to list them."""

    async def apply(self, change: FileChange) -> None:
        """All or nothing; refuses if what is there is no longer `before`."""

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
        """Run to the end, the time limit or a cancel; nothing that it started is left. `killed` hears what was ended.

        Without `log`, output that does not fit is dropped: for a tool that listens to `output` itself.
        """

    async def start(
        self, argv: Sequence[str], *, call_id: str, cwd: str = ".", environment: Mapping[str, str] | None = None
    ) -> None:
        """Run in the background; the command's id is the id of the call that started it."""

    async def poll(self, command_id: str) -> ProcessResult: ...

    async def stop(self, command_id: str) -> ProcessResult: ...

    async def sweep(self, call_id: str) -> Sequence[Killed]:
        """End what an earlier, killed process left of a call."""


@runtime_checkable
class ResolvingHost(Host, Protocol):
    """A host that can tell where a path leads, so that a link is no other name for a protected file."""

    async def resolve(self, path: str) -> str:
        """The same place without links on the way, relative to the workspace; it need not exist."""


class Snapshot(Protocol):
    """What a workspace was like at one moment. Only the host that took it can read it."""

    #: Why it holds no files, in words; nothing if it holds them.
    partial: str

    def record_write(self, path: str, content: bytes | None) -> None:
        """Somebody else has written this meanwhile: it counts as having been there from the start.

        What the host applies itself, it knows of.
        """


class ScannedFile(NamedTuple):
    """A file that is not what it was. Where its content is not kept, `not_saved` says why."""

    path: str
    before: FileContent | None
    after: FileContent | None
    not_saved: str = ""


@runtime_checkable
class ScanningHost(Host, Protocol):
    """A host that can tell what a command did to files, by looking before and after it."""

    async def snapshot(self) -> Snapshot: ...

    async def dump_snapshot(self, snapshot: Snapshot) -> Sequence[bytes]:
        """The snapshot as contents that outlast this process, the first of which names the others.

        Nothing if that would be more than is worth writing before a command.
        """

    async def load_snapshot(self, kept: bytes, blob: "Blob") -> Snapshot | None:
        """The snapshot that an earlier process kept, if it can be read."""

    async def changes(self, before: Snapshot) -> Sequence[ScannedFile]:
        """The files that are no longer what they were."""

    async def look(self, path: str, limit: int) -> FileContent | None:
        """What stands there, a link as a link; nothing if there is no file. Of a longer one it is a byte too much."""


class Blob(Protocol):
    """Where a content can be had by its hash."""

    async def __call__(self, digest: str, /) -> bytes | None: ...
