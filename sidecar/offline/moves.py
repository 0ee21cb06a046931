"""Finds files that were moved without `git mv`: deleted here, untracked there, with similar lines."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from sidecar.models.port import ToolReturn
from sidecar.offline.changes import Change, is_similar
from sidecar.offline.results import records
from sidecar.offline.skill import Act
from sidecar.wire.base import JsonObject
from tools.builtin.read_file import strip_line_numbers

_MOST = 6


class PossibleMoves(NamedTuple):
    """Pairs of a deleted file and its possible new path, and new folders, whose files Git doesn't list."""

    pairs: list[tuple[Change, str]]
    folders: list[str]

    @classmethod
    def among(cls, changes: Sequence[Change]) -> "PossibleMoves":
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
        """The calls whose results `resolve` takes."""
        reads: list[tuple[str, JsonObject]] = [("read_file", {"path": path}) for _, path in self.pairs]
        lists: list[tuple[str, JsonObject]] = [("list_dir", {"path": path}) for path in self.folders]
        return Act([*reads, *lists]) if reads else None

    def resolve(self, changes: Sequence[Change], returns: Sequence[ToolReturn]) -> list[Change]:
        """The changes with each move as one change."""
        found: dict[str, Change] = {}
        for (old, path), back in zip(self.pairs, returns, strict=False):
            taken = any(each.origin == old.path for each in found.values()) or path in found
            if not taken and back.status == "success":
                lines = strip_line_numbers(back.content).splitlines()
                if is_similar(lines, [line.text for line in old.lines]):
                    found[path] = Change(path, "renamed", origin=old.path)
        listed = zip(self.folders, returns[len(self.pairs) :], strict=False)
        # A folder that holds only moved files needs no mention.
        covered = {
            folder
            for folder, back in listed
            if (entries := records(back, "entries")) and all(str(each["path"]) in found for each in entries)
        }
        gone = {*found, *covered, *(each.origin for each in found.values())}
        return [*(each for each in changes if each.path not in gone), *found.values()]
