"""The files of a workspace as they are now, read as versions."""

import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from weakref import finalize

from sidecar.config.paths import closed_after
from tools.errors import ToolError
from tools.local.attribution.versions import MISSING, Version, mark_of
from tools.local.birth import birth_time
from tools.local.root import WorkspaceRoot, name_to_text, read_handle, stamp_of

MAX_FILE_BYTES = 4 * 1024 * 1024
#: Versions in between, which matter only if somebody else writes the same file meanwhile.
_MAX_BETWEEN = 1 << 20
#: Names that are looked at to find files with several.
_MAX_LOOKED_THROUGH = 200_000
#: Linux's CLOCK_REALTIME_COARSE, by which file systems tell the time.
FILE_CLOCK = 5
_TOO_LARGE = f"Larger than {MAX_FILE_BYTES >> 20} MiB, so its content isn't kept."
_UNREADABLE = "It can't be read, so it isn't kept."


class CurrentFiles:
    def __init__(self, root: WorkspaceRoot) -> None:
        self._root = root
        #: By the clock of the files' times.
        self._began = time.clock_gettime_ns(FILE_CLOCK)
        self._new_folders: dict[str, bool] = {}
        #: The names of files that have several, once they were looked for.
        self._linked: dict[tuple[int, int], list[str]] | None = None
        self._directory = root.open(".", os.O_RDONLY | os.O_DIRECTORY)
        finalize(self, os.close, self._directory)

    def lstat(self, path: str) -> os.stat_result | None:
        """Paths here have no links, unless somebody just made one; what is read goes through the root."""
        try:
            return os.stat(path, dir_fd=self._directory, follow_symlinks=False)
        except OSError:
            return None

    def look(self, path: str, *, between: bool = False, unless: Version | None = None) -> Version:
        """The file now; `unless` is an earlier version that saves reading it again."""
        found = self.lstat(path)
        if found is None or not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
            return MISSING
        stamp = stamp_of(found)
        if unless is not None and unless.stamp == stamp and not unless.why:
            return unless
        mode = stat.S_IFLNK | 0o777 if stat.S_ISLNK(found.st_mode) else stat.S_IMODE(found.st_mode)
        limit = min(_MAX_BETWEEN if between else MAX_FILE_BYTES, MAX_FILE_BYTES)
        if found.st_size > limit:
            return Version(mode, None, _TOO_LARGE, stamp=stamp)
        content = self._read(path, stat.S_ISLNK(found.st_mode), limit)
        if content is None:
            return Version(mode, None, _UNREADABLE, stamp=stamp)
        return Version(mode, content, "", mark_of(content), stamp)

    def other_names(self, path: str, file: os.stat_result, left_out: Callable[[str], str | None]) -> list[str]:
        """The other names of a file that has several.

        The workspace is looked through once: names that the command itself gives later are claimed as it does so.
        """
        if self._linked is None:
            self._linked = self._find_linked(left_out)
        return [name for name in self._linked.get((file.st_dev, file.st_ino), ()) if name != path]

    def _find_linked(self, left_out: Callable[[str], str | None]) -> dict[tuple[int, int], list[str]]:
        """The names of each file that has several."""
        found: dict[tuple[int, int], list[str]] = {}
        waiting, left = [""], _MAX_LOOKED_THROUGH
        while waiting and left > 0:
            folder = waiting.pop()
            try:
                handle = self._root.open(name_to_text(folder) or ".", os.O_RDONLY | os.O_DIRECTORY)
            except ToolError:
                continue
            with closed_after(handle), os.scandir(handle) as entries:
                for entry in entries:
                    left -= 1
                    name = folder + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        if left_out(f"{name}/") is None:
                            waiting.append(f"{name}/")
                    elif entry.is_file(follow_symlinks=False):
                        with suppress(OSError):
                            status = entry.stat(follow_symlinks=False)
                            if status.st_nlink > 1:
                                found.setdefault((status.st_dev, status.st_ino), []).append(name)
        return found

    def is_new_folder(self, path: str) -> bool:
        """Whether the folder was created since the command began, as far as the file system remembers that."""
        known = self._new_folders.get(path)
        if known is None:
            born = birth_time(self._directory, path)
            known = self._new_folders[path] = born is not None and born >= self._began
        return known

    def _read(self, path: str, linked: bool, limit: int) -> bytes | None:
        try:
            if linked:
                directory, name = self._root.parent(name_to_text(path), follow=False)
                try:
                    return os.fsencode(os.readlink(name, dir_fd=directory))
                finally:
                    os.close(directory)
            handle = self._root.open(name_to_text(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
            try:
                content = read_handle(handle, path, limit + 1)
                return content if len(content) <= limit else None
            finally:
                os.close(handle)
        except (ToolError, OSError):
            return None
