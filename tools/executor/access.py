"""The paths that a call touches, and whether two calls may run in parallel."""

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple


class PathAccess(NamedTuple):
    """`scopes` are paths as parts; each covers everything below it."""

    writes: bool
    scopes: tuple[tuple[str, ...], ...]

    def with_paths(self, paths: Iterable[str], workspace: str) -> "PathAccess":
        return self._replace(scopes=(*self.scopes, *access_to(paths, workspace, writes=self.writes).scopes))


def access_to(paths: Iterable[str], workspace: str, *, writes: bool) -> PathAccess:
    return PathAccess(writes, tuple(_parts(path, workspace) for path in paths))


def conflict(one: PathAccess, other: PathAccess) -> bool:
    """Two calls keep their order if one writes where the other reads or writes."""
    if not (one.writes or other.writes):
        return False
    return any(_overlap(mine, theirs) for mine in one.scopes for theirs in other.scopes)


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _parts(path: str, workspace: str) -> tuple[str, ...]:
    """Names that some file system treats as equal are equal here."""
    if path == workspace or path.startswith(f"{workspace.rstrip('/')}/"):
        path = path[len(workspace) :]
    elif path.startswith("/"):
        return ()  # outside, or another name of the workspace: it may be anything
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part if part.isascii() and part.islower() else unicodedata.normalize("NFKC", part).casefold())
    return tuple(parts)
