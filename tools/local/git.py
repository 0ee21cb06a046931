"""The only reader of a Git repository's index, as far as a scan of the workspace needs it.

It parses the index itself: calling Git would cost more than everything else around a command.
"""

import os
import re
import stat
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from sidecar.config.paths import closed_after
from tools.errors import ToolError
from tools.local.root import Stamp, WorkspaceRoot, name_to_text, read_handle, stamp_of

_SECOND = 1_000_000_000
_INDEX = ".git/index"
_LARGE_INDEX = 100_000
_MAX_INDEX_BYTES = 64 * 1024 * 1024
_MAX_CONFIG_BYTES = 1 << 20
#: Attributes and settings that make Git store a file in another form than the workspace has it.
_CONVERTED = re.compile(rb"\b(text|eol|crlf|ident|filter|working-tree-encoding)\b")
_CONVERTING = re.compile(rb"(autocrlf\s*=\s*(true|input)|^[ \t]*eol\s*=|objectformat\s*=|worktree\s*=)", re.I | re.M)
_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">10I20sH")
_FLAGS = struct.Struct(">H")
_EXTENDED = 0x4000
_STAGE = 0x3000


class IndexEntry(NamedTuple):
    """A file when Git last looked at it; inode and size are cut to 32 bits."""

    mtime: int
    mtime_ns: int
    inode: int
    size: int
    mode: int
    content: bytes
    #: During a merge a file has several contents, and this is one of them.
    merging: bool


class Index(Mapping[str, IndexEntry]):
    """The entries by path, read when asked for: as objects, those of 50,000 files stop all threads while garbage is
    collected.
    """

    def __init__(self, data: bytes, places: Mapping[str, int]) -> None:
        self._data, self._places = data, places

    def __getitem__(self, path: str) -> IndexEntry:
        found = _ENTRY.unpack_from(self._data, self._places[path])
        _, _, mtime, mtime_ns, _, inode, mode, _, _, size, content, flags = found
        return IndexEntry(mtime, mtime_ns, inode, size, mode, content, bool(flags & _STAGE))

    def __contains__(self, path: object) -> bool:
        return path in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Repository:
    """The workspace's own `.git` directory; without one it is a repository without files."""

    def __init__(self, root: WorkspaceRoot) -> None:
        self._root = root
        self._stamp: Stamp | None = None
        self._written = 0
        self._plain = False
        self.tracked: Mapping[str, IndexEntry] = {}
        self.folders: frozenset[str] = frozenset()

    def must_read(self) -> bool:
        """Whether the index changed and takes long to read."""
        try:
            handle = self._root.open(_INDEX, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except ToolError:
            return False
        with closed_after(handle):
            now = stamp_of(os.fstat(handle))
            return now != self._stamp and now[2] > _LARGE_INDEX

    def refresh(self) -> None:
        """Read the index again if it changed."""
        try:
            handle = self._root.open(_INDEX, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except ToolError:
            self._set(None, {}, 0)
            return
        try:
            now = stamp_of(os.fstat(handle))
            if now == self._stamp:
                return
            found = parse_index(read_handle(handle, _INDEX, _MAX_INDEX_BYTES)) if now[2] <= _MAX_INDEX_BYTES else None
            self._set(now, found or {}, now[3])
        except (ToolError, OSError):
            self._set(None, {}, 0)
        finally:
            os.close(handle)

    def content(self, path: str, stamp: Stamp) -> bytes | None:
        """The name of the object that holds exactly the file's content, if the stamps prove it."""
        entry = self.tracked.get(path) if self._plain else None
        if entry is None or entry.merging or not entry.size or not stat.S_ISREG(stamp[0]):
            return None
        mode, inode, size, written, _ = stamp
        # Git itself would have to compare a file that was written together with the index or later.
        if written >= self._written or not stat.S_ISREG(mode) or not stat.S_ISREG(entry.mode):
            return None
        same = (written // _SECOND, written % _SECOND, inode & 0xFFFFFFFF, size) == (
            entry.mtime,
            entry.mtime_ns,
            entry.inode,
            entry.size,
        )
        return entry.content if same else None

    def _set(self, stamp: Stamp | None, tracked: Mapping[str, IndexEntry], written: int) -> None:
        self._stamp, self.tracked, self._written = stamp, tracked, written
        folders: set[str] = set()
        for path in tracked:
            folder = path.rpartition("/")[0]
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        self.folders = frozenset(folders)
        self._plain = bool(tracked) and self._stores_plain_content()

    def _stores_plain_content(self) -> bool:
        """Whether Git stores files byte for byte."""
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
            return read_handle(handle, path, _MAX_CONFIG_BYTES)
        except (ToolError, OSError):
            return b""
        finally:
            os.close(handle)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_CONFIG_BYTES)
    except OSError:
        return b""


# -- the index ------------------------------------------------------------------------------------------------------


def parse_index(data: bytes) -> Index | None:
    """The entries by path; `None` for an index of an unknown kind."""
    try:
        return _entries(data)
    except (struct.error, ValueError, IndexError):
        return None


def _entries(data: bytes) -> Index | None:
    signature, version, count = _HEADER.unpack_from(data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        return None
    found: dict[str, int] = {}
    place, name = _HEADER.size, b""
    for _ in range(count):
        start = place
        (flags,) = _FLAGS.unpack_from(data, place + _ENTRY.size - _FLAGS.size)
        place += _ENTRY.size + (2 if flags & _EXTENDED else 0)
        if version == 4:
            strip, place = _number(data, place)
            name = name[: len(name) - strip]
        else:
            name = b""
        end = data.index(b"\0", place)
        name += data[place:end]
        place = end + 1 if version == 4 else start + ((end - start) // 8 + 1) * 8
        found[name.decode("utf-8", "surrogateescape")] = start
    return None if _is_incomplete(data, place) else Index(data, found)


def _number(data: bytes, place: int) -> tuple[int, int]:
    byte = data[place]
    place += 1
    number = byte & 0x7F
    while byte & 0x80:
        byte = data[place]
        place += 1
        number = ((number + 1) << 7) | (byte & 0x7F)
    return number, place


def _is_incomplete(data: bytes, place: int) -> bool:
    """Whether it is a split index, or a sparse one that has directories instead of their files."""
    while place + 8 <= len(data) - 20:
        signature, length = data[place : place + 4], int.from_bytes(data[place + 4 : place + 8], "big")
        if signature in (b"link", b"sdir"):
            return True
        place += 8 + length
    return False
