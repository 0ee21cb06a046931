"""Finds the repository that a workspace belongs to, without Git's help and without being led elsewhere.

Only a `.git` makes a repository: a directory whose plain files look like a bare one never does. A `.git` that is a
link or a file may lead out of the workspace only to a place that names this working tree as its own.
"""

import os
import stat
from typing import NamedTuple

from tools.errors import ToolError
from tools.local.repository.configuration import last_value, read_config, read_text


class RepositoryPlace(NamedTuple):
    """`top` is the working tree, `directory` its own Git directory, `common` the one that its worktrees share."""

    top: str
    directory: str
    common: str


class NoRepository(ToolError):
    code = "no_git"


def find_repository(workspace: str, home: str) -> RepositoryPlace:
    start = place = os.path.realpath(workspace)
    home = os.path.realpath(home) if home.startswith("/") else "/"
    device = _device(place)
    while True:
        found = _repository_at(place)
        if found is not None:
            return found
        upper = os.path.dirname(place)  # noqa: PTH120
        # A repository of the whole home directory, or of the machine, is none of this workspace's business.
        if upper == place or _device(upper) != device or f"{home}/".startswith(f"{upper.rstrip('/')}/"):
            advice = "Create one with `git init` in run_command."
            raise NoRepository("The workspace is not a Git repository.", advice=advice) from None
        place = upper
        assert place != start


def _repository_at(top: str) -> RepositoryPlace | None:
    entry = f"{top}/.git"
    try:
        kind = os.lstat(entry).st_mode
    except OSError:
        return None
    directory = entry
    if stat.S_ISREG(kind):
        named = read_text(entry)[:4_096]
        if not named.startswith("gitdir:"):
            return None
        directory = os.path.join(top, named.removeprefix("gitdir:").strip("\r\n ").split("\n")[0])  # noqa: PTH118
    elif not (stat.S_ISDIR(kind) or stat.S_ISLNK(kind)):
        return None
    try:
        directory = os.path.realpath(directory)
        common = _common_of(directory)
    except ValueError:
        return None
    if not (os.path.lexists(f"{directory}/HEAD") and os.path.isdir(f"{common}/objects")):  # noqa: PTH112
        return None
    if not directory.startswith(f"{top}/") and not _belongs(directory, top, entry):
        raise NoRepository(
            f"{entry} leads to {directory}, which doesn't name this workspace as its working tree, so it is not read.",
            advice="Tell the user; don't try it another way.",
        )
    if common != directory and os.path.dirname(directory) != f"{common}/worktrees":  # noqa: PTH120
        raise NoRepository(
            f"{directory} claims to be a worktree of {common}, which doesn't know it, so it is not read.",
            advice="Tell the user; don't try it another way.",
        )
    return RepositoryPlace(top, directory, common)


def _common_of(directory: str) -> str:
    named = read_text(f"{directory}/commondir").strip("\r\n ")[:4_096]
    return os.path.realpath(os.path.join(directory, named)) if named else directory  # noqa: PTH118


def _belongs(directory: str, top: str, entry: str) -> bool:
    """Whether a Git directory elsewhere says that this is its working tree: a linked worktree, or a submodule."""
    back = read_text(f"{directory}/gitdir").strip("\r\n ")[:4_096]
    if back and os.path.realpath(os.path.join(directory, back)) == os.path.realpath(entry):  # noqa: PTH118
        return True
    named = last_value(read_config(f"{directory}/config"), "core.worktree")
    return bool(named) and os.path.realpath(os.path.join(directory, named or "")) == top  # noqa: PTH118


def _device(place: str) -> int:
    try:
        return os.stat(place).st_dev  # noqa: PTH116
    except OSError:
        return -1
