"""The port of worktrees: what the engine needs of Git to give a task its own copy of a repository."""

from collections.abc import Iterable
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

    def may_be_workspace(self, workspace: str) -> bool:
        """Whether a directory is none of the sidecar's own, or in one of its worktrees."""

    def tree(self, name: str) -> str: ...

    def base(self, name: str) -> WorktreeBase | None:
        """What a worktree began with; `None` if there is none, or it was never completed."""

    def create(self, name: str, workspace: str) -> WorktreeBase:
        """Make a worktree of HEAD with your uncommitted changes. Raises `ToolError`; then nothing is left of it."""

    def changed(self, name: str, also: Iterable[str] = ()) -> list[ChangedPath]: ...

    def moved_on(self, name: str) -> bool: ...

    def remove(self, name: str, workspace: str) -> None: ...
