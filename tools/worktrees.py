"""The ports of worktrees and clones: what the engine needs of Git to give a task its own copy of a repository."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tools.host import FileContent


@dataclass(frozen=True, slots=True)
class WorktreeBase:
    """What a worktree began with. Paths are relative to the repository's top."""

    workspace: str
    #: The workspace's counterpart in the worktree.
    directory: str
    top: str
    commit: str
    #: Files with uncommitted changes; the content of those that exist is kept beside the worktree.
    carried: list[str] = field(default_factory=list)
    #: Uncommitted changes that are not in the worktree.
    left_out: list[str] = field(default_factory=list)
    #: Folders of links to installed packages.
    linked: list[str] = field(default_factory=list)


class ChangedPath(NamedTuple):
    """A file that differs from the base; `path` is relative to the repository's top."""

    path: str
    base: FileContent | None
    now: FileContent | None


class WorktreeStore(Protocol):
    """Makes, compares and removes worktrees. Its methods block, so call them in a thread."""

    def check(self, workspace: str) -> None:
        """Raises `ToolError` if the workspace is in no repository."""

    def names(self) -> list[str]: ...

    def holds(self, workspace: str) -> bool:
        """Whether a directory is in one of the worktrees."""

    def tree(self, name: str) -> str: ...

    def base(self, name: str) -> WorktreeBase | None:
        """What a worktree began with; `None` if there is none, or it was never completed."""

    def create(self, name: str, workspace: str) -> WorktreeBase:
        """Make a worktree of HEAD with your uncommitted changes. Raises `ToolError`; then nothing is left of it."""

    def changed(self, name: str, also: Iterable[str] = ()) -> list[ChangedPath]: ...

    def moved_on(self, name: str) -> bool: ...

    def remove(self, name: str, workspace: str) -> None: ...


class CloneStore(Protocol):
    """Clones of remotes, one for each run of a task. All but `check` raise `ToolError`."""

    def check(self, remote: str) -> str:
        """The remote's address in one form. Raises `ToolError` unless you allowed it."""

    async def find(self, remote: str, branch: str) -> tuple[str, str]:
        """Fetch, and return the branch, the remote's own choice if none is named, and its newest commit."""

    async def checkout(self, name: str, remote: str, commit: str) -> str:
        """A new clone of that commit; an earlier one of that name goes. Returns its directory."""

    async def write(self, name: str, files: Mapping[str, FileContent | None]) -> None:
        """Give these files of a clone this content, or remove them. The mode 0 leaves a file's mode as it is."""

    async def commit(
        self,
        name: str,
        remote: str,
        parent: str,
        message: str,
        when: str,
        only: Sequence[str] | None = None,
        merged: str = "",
    ) -> str:
        """A commit of all that is in the clone, or `only` of these paths; empty if nothing changed.

        The same files give the same commit. `merged` is the commit of a part, a second parent.
        """

    async def changed(self, remote: str, base: str, commit: str) -> list[ChangedPath]:
        """What differs between two commits. Refuses submodules, and more than can be merged."""

    async def delete(self, remote: str, branch: str, commit: str) -> None:
        """Delete a branch, unless it has another commit by now."""

    async def is_pushed(self, remote: str, commit: str, branch: str) -> bool:
        """Whether the remote's branch has the commit."""

    async def push(self, name: str, remote: str, commit: str, branch: str) -> None:
        """Push to a branch, never by force."""

    async def remove(self, name: str) -> None: ...
