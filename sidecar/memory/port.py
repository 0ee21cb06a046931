"""The memory port: what a workspace's code says, its dependencies, and what was done before.

`LocalMemory` keeps it in SQLite files on this machine. Everything that an implementation returns is data from the
workspace: it is shown as a quotation with its source and decides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

State = Literal["empty", "building", "ready"]


class MemoryState(NamedTuple):
    state: State
    files: int = 0
    chunks: int = 0
    bytes: int = 0
    done: int = 0
    total: int = 0
    #: The weights of its vectors; empty if it has none.
    vectors: str = ""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """`path` is a folder or file, `kind` a chunk's kind such as `function`; `near` are files the user works on."""

    query: str
    limit: int = 10
    path: str = ""
    kind: str = ""
    language: str = ""
    near: tuple[str, ...] = ()
    #: Only files that changed in the last so many days; 0 is all.
    days: int = 0


class Hit(NamedTuple):
    """A place in a file as it is now: a hit whose file changed since it was indexed is never returned."""

    path: str
    line: int
    end_line: int
    symbol: str
    kind: str
    score: float
    snippet: str
    why: str


class Found(NamedTuple):
    state: State
    hits: Sequence[Hit]


class Affected(NamedTuple):
    """A file that depends on what was asked for; `via` says how, `line` is where, `through` the file it uses."""

    path: str
    symbol: str
    distance: int
    via: str
    line: int = 0
    certain: bool = True
    through: str = ""


class Dependents(NamedTuple):
    """In any other state than ready, the index doesn't hold all files yet, so that there may be more of them."""

    state: State
    hits: Sequence[Affected]


class Memory(Protocol):
    def start(self, workspace: str) -> None:
        """Begin to build or refresh the index in the background; return at once."""

    async def search(self, workspace: str, search: SearchRequest, wait: float = 0) -> Found:
        """The best places first. `wait` is how many seconds to wait for an index that is being built."""

    async def impact(
        self, workspace: str, path: str = "", symbol: str = "", depth: int = 1, wait: float = 0
    ) -> Dependents:
        """What depends on a file, or on a name defined in it; the nearest first."""

    async def imports(self, workspace: str, path: str) -> Sequence[str]:
        """The files and packages of the workspace that a file imports."""

    async def similar(self, workspace: str, symbol: str, limit: int = 10, wait: float = 0) -> Found:
        """Definitions that are written much like this one."""

    async def tests_of(self, workspace: str, path: str, wait: float = 0) -> Dependents:
        """The tests that reach a file by imports, the nearest first."""

    async def repository_map(self, workspace: str, budget: int, words: str = "", near: Sequence[str] = ()) -> str:
        """The most connected files with their definitions in at most `budget` bytes; empty without a ready index.

        `words` are those of a task and `near` its open files: what they name comes first.
        """

    async def state(self, workspace: str) -> MemoryState: ...

    async def rebuild(self, workspace: str) -> MemoryState:
        """Throw the index away and build it anew in the background."""

    async def forget(self, workspace: str) -> None:
        """Delete everything that is stored about the workspace's code."""

    async def close(self) -> None: ...
