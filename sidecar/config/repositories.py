"""Which repository a directory belongs to: worktrees and clones that we make count as the one they were made of.

Only we record that, in the data directory. What a directory says of itself (its remotes, a `.git` file that points
elsewhere) counts for nothing: a stranger's repository could say the same.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from sidecar.config.paths import write_private

_MOST = 10_000
_REMOTE = re.compile(r"(?:https?|ssh|git)://(?:[^\s@/]*@)?(?P<place>[^\s@/]+/[^\s]+)|[\w.-]+@(?P<short>[\w.-]+:[^\s]+)")


def normalize_repository(named: str) -> str:
    """A remote without scheme, user and `.git`; any other text is a path, without links."""
    if found := _REMOTE.fullmatch(named):
        place = found["place"] or found["short"].replace(":", "/", 1)
        host, _, path = place.partition("/")
        return f"{host.lower()}:{path.rstrip('/').removesuffix('.git')}"
    return os.path.realpath(named)


def is_remote_name(named: str) -> bool:
    return _REMOTE.fullmatch(named) is not None


def is_shared_name(origin: str) -> bool:
    """Whether the name of an origin means the same on every machine: a remote, not a path."""
    return not os.path.isabs(origin)  # noqa: PTH117


class Repositories:
    """`clones` are recorded by `brain doors`, another process; worktrees by the sidecar."""

    def __init__(self, data_dir: Path) -> None:
        self._file = data_dir / "copies.json"
        self._origins = _read(self._file)
        self._clones = CloneOrigins(data_dir)

    def register(self, copy: str, origin: str) -> None:
        """We made `copy`, a worktree or clone, of the repository `origin`: a path or a remote."""
        place, source = os.path.realpath(copy), normalize_repository(origin)
        if place == source:
            return
        self._origins = dict([*self._origins.items(), (place, source)][-_MOST:])
        self._save()

    def forget(self, copy: str) -> None:
        """The copy is gone, or is about to go."""
        if self._origins.pop(os.path.realpath(copy), None) is not None:
            self._save()

    def origin(self, workspace: str) -> str | None:
        """The repository that we made this directory of, if we did."""
        return self._origin(os.path.realpath(workspace))

    def _origin(self, place: str) -> str | None:
        return self._origins.get(place) or self._clones.origin(place)

    def covering(self, workspace: str) -> list[str]:
        """The names under which trust and grants for this directory are recorded, its own first."""
        names = [normalize_repository(workspace)]
        while (origin := self._origin(names[-1])) is not None and origin not in names:
            names.append(origin)
        return names

    def home(self, workspace: str) -> str:
        """The repository itself: the same name for all worktrees and clones that we made of it."""
        return self.covering(workspace)[-1]

    def _save(self) -> None:
        write_private(self._file, json.dumps(self._origins))


class CloneOrigins:
    """The clones that `brain doors` makes, in a file that only it writes. Readers see a change at their next look."""

    def __init__(self, data_dir: Path) -> None:
        self._file = data_dir / "clones.json"
        self._stamp: object = None
        self._origins: dict[str, str] = {}

    def origin(self, place: str) -> str | None:
        try:
            found = self._file.stat()
            stamp = (found.st_mtime_ns, found.st_ino, found.st_size)
        except OSError:
            return None
        if stamp != self._stamp:
            self._stamp, self._origins = stamp, _read(self._file)
        return self._origins.get(place)

    def write(self, origins: Mapping[str, str]) -> None:
        """All clones there are: each directory and the workspace or remote it counts as."""
        known = {os.path.realpath(copy): normalize_repository(origin) for copy, origin in origins.items()}
        write_private(self._file, json.dumps(known))


def _read(file: Path) -> dict[str, str]:
    """An unreadable file covers nothing."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {str(copy): str(origin) for copy, origin in found.items()}
    except (OSError, ValueError, AttributeError):
        return {}
