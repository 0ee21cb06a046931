"""The host port: what a tool may ask of the machine it works on.

`LocalHost` does it here. In a desktop shell the same port is served by a host that knows the open buffers. A tool does
not know which one it has, and never asks the operating system itself. Paths are relative to the workspace, with `/`.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class FileInfo:
    path: str
    kind: Literal["file", "directory", "symlink", "other"]
    size: int
    mtime_ns: int
    inode: int
    mode: int


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after: `None` is a file that does not exist. Settled after a crash by comparing the two."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a process ended. `output` is its head and tail within the cap; the whole stands in `log`, if it was cut."""

    exit_code: int | None
    output: str
    timed_out: bool
    duration_ms: float
    killed: tuple[int, ...] = ()
    log: str | None = None


class ProcessOutput(Protocol):
    def __call__(self, stream: str, text: str) -> None: ...


class Host(Protocol):
    """Files, processes, and what an editor knows, of one workspace."""

    workspace: str

    async def stat(self, path: str) -> FileInfo: ...

    async def read(self, path: str, limit: int) -> bytes: ...

    async def list(self, path: str) -> Sequence[FileInfo]: ...

    def walk(self, path: str) -> AsyncIterator[FileInfo]: ...

    async def apply(self, change: FileChange) -> None: ...

    async def run(
        self,
        argv: Sequence[str],
        *,
        call_id: str,
        cwd: str = ".",
        timeout: float,
        output: ProcessOutput,
        environment: Mapping[str, str] | None = None,
    ) -> ProcessResult: ...
