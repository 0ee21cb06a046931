"""Files that were moved without Git being told: gone here, untracked there, until somebody compares them."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from sidecar.models.port import ToolReturn
from sidecar.offline.changes import Change
from sidecar.offline.renames import alike
from sidecar.offline.skill import Act
from sidecar.wire.base import JsonObject

_MOST = 6
_NUMBER = re.compile(r"^ *\d+ ", re.MULTILINE)


class Moves(NamedTuple):
    """Which file may be which: one that is gone, and one that is new, perhaps in a folder that is new itself."""

    pairs: list[tuple[Change, str]]
    folders: list[str]

    @classmethod
    def possible(cls, changes: Sequence[Change]) -> "Moves":
        gone = [each for each in changes if each.how == "deleted" and each.lines]
        new = [each.path for each in changes if each.how == "added" and not each.staged]
        pairs = [
            (each, f"{path}{each.name}" if path.endswith("/") else path)
            for each in gone
            for path in new
            if path.endswith("/") or PurePosixPath(path).suffix == PurePosixPath(each.path).suffix
        ]
        folders = [path for path in new if path.endswith("/")] if gone else []
        return cls(pairs[:_MOST], folders[:_MOST])

    def look(self) -> Act | None:
        reads: list[tuple[str, JsonObject]] = [("read_file", {"path": path}) for _, path in self.pairs]
        lists: list[tuple[str, JsonObject]] = [("list_dir", {"path": path}) for path in self.folders]
        return Act([*reads, *lists]) if reads else None

    def told(self, changes: Sequence[Change], returns: Sequence[ToolReturn]) -> list[Change]:
        """The changes, with what was moved as such; `returns` are those of the look."""
        found: dict[str, Change] = {}
        for (old, path), back in zip(self.pairs, returns, strict=False):
            taken = any(each.origin == old.path for each in found.values()) or path in found
            if not taken and back.status == "success":
                lines = _NUMBER.sub("", back.content).splitlines()
                if alike(lines, [line.text for line in old.lines]):
                    found[path] = Change(path, "renamed", origin=old.path)
        listed = zip(self.folders, (back.content.split("\n") for back in returns[len(self.pairs) :]), strict=False)
        # A folder that holds nothing but what was moved into it need not be told of.
        covered = {folder for folder, names in listed if all(f"{folder}{name}" in found for name in names)}
        gone = {*found, *covered, *(each.origin for each in found.values())}
        return [*(each for each in changes if each.path not in gone), *found.values()]
