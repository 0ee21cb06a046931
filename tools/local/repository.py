"""What Git knows of a workspace, as far as a look at its files needs it: which are tracked, and which are unchanged."""

import os
import re
import stat
from collections.abc import Callable, Mapping
from operator import attrgetter
from pathlib import Path

from tools.errors import ToolError
from tools.local.files import read_handle
from tools.local.git_index import Tracked, read_index
from tools.local.root import WorkspaceRoot, name_to_text

#: How a file lies on the disk: mode, inode, size, and when content and inode last changed, in nanoseconds.
Stamp = tuple[int, int, int, int, int]

_SECOND = 1_000_000_000
_INDEX = ".git/index"
_LARGEST_INDEX = 64 * 1024 * 1024
_SMALL = 1 << 20
#: Words that make Git keep a file in another form than it has in the workspace.
_CONVERTED = re.compile(rb"\b(text|eol|crlf|ident|filter|working-tree-encoding)\b")
_CONVERTING = re.compile(rb"(autocrlf\s*=\s*(true|input)|^\s*eol\s*=|objectformat\s*=|worktree\s*=)", re.I | re.M)


class Repository:
    """Of the workspace's own `.git` directory; a workspace that has none is a repository without files."""

    def __init__(self, root: WorkspaceRoot) -> None:
        self._root = root
        self._stamp: Stamp | None = None
        self._written = 0
        self._plain = False
        self.tracked: Mapping[str, Tracked] = {}
        self.folders: frozenset[str] = frozenset()

    @property
    def git_dir(self) -> str:
        return f"{self._root.path}/.git"

    def refresh(self) -> None:
        """Looks whether the index is another one since; hardly ever is it read."""
        try:
            handle = self._root.open(_INDEX, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except ToolError:
            self._take(None, {}, 0)
            return
        try:
            now = stamp_of(os.fstat(handle))
            if now == self._stamp:
                return
            found = read_index(read_handle(handle, _INDEX, _LARGEST_INDEX)) if now[2] <= _LARGEST_INDEX else None
            self._take(now, found or {}, now[3])
        except (ToolError, OSError):
            self._take(None, {}, 0)
        finally:
            os.close(handle)

    def content(self, path: str, stamp: Stamp) -> bytes | None:
        """The name under which Git keeps exactly what the file holds, if it can be told without reading it."""
        entry = self.tracked.get(path) if self._plain else None
        if entry is None or entry.merging or not entry.size or not stat.S_ISREG(stamp[0]):
            return None
        mode, inode, size, written, _ = stamp
        # What was written in the same moment as the index, or later, Git itself would have to compare.
        if written >= self._written or not stat.S_ISREG(mode) or not stat.S_ISREG(entry.mode):
            return None
        same = (written // _SECOND, written % _SECOND, inode & 0xFFFFFFFF, size) == (
            entry.mtime,
            entry.mtime_ns,
            entry.inode,
            entry.size,
        )
        return entry.content if same else None

    def _take(self, stamp: Stamp | None, tracked: Mapping[str, Tracked], written: int) -> None:
        self._stamp, self.tracked, self._written = stamp, tracked, written
        folders: set[str] = set()
        for path in tracked:
            folder = path.rpartition("/")[0]
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        self.folders = frozenset(folders)
        self._plain = bool(tracked) and self._unconverted()

    def _unconverted(self) -> bool:
        """Whether what Git keeps of a file is what stands in the file, byte for byte."""
        attributes = [path for path in self.tracked if path.rpartition("/")[2] == ".gitattributes"]
        if any(_CONVERTED.search(self._read(path)) for path in (*attributes, ".git/info/attributes")):
            return False
        home = Path(os.environ.get("HOME", "/"))
        elsewhere = (home / ".gitconfig", home / ".config/git/config", Path("/etc/gitconfig"))
        return not any(_CONVERTING.search(text) for text in (self._read(".git/config"), *map(_read, elsewhere)))

    def _read(self, path: str) -> bytes:
        try:
            handle = self._root.open(name_to_text(path), os.O_RDONLY | os.O_NONBLOCK)
        except ToolError:
            return b""
        try:
            return read_handle(handle, path, _SMALL)
        except (ToolError, OSError):
            return b""
        finally:
            os.close(handle)


#: Asked for every file of a workspace around each command, so it is one call and no function of ours.
stamp_of: Callable[[os.stat_result], Stamp] = attrgetter("st_mode", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_SMALL)
    except OSError:
        return b""
