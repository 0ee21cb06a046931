"""Opens every path of a workspace, and none outside of it.

The kernel opens a path beneath the workspace's handle in one step, so no one can swap in a link between a check and the
opening. Without `openat2`, the path is walked handle by handle, and only links that the walk has read are followed.
"""

# Runs so often that building a Path would cost more than the system call.
# ruff: noqa: PTH100, PTH115

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

from sidecar.config.paths import closed_after
from tools.errors import FileMissing, NotADirectory, NotAFile, PathDenied, ToolError, WorkspaceGone
from tools.local.openat2 import BENEATH, NO_MAGICLINKS, NO_SYMLINKS, is_available, openat2

Stamp = tuple[int, int, int, int, int]
#: Runs for every file of a workspace around each command, so it is one call and no function of ours.
stamp_of: Callable[[os.stat_result], Stamp] = attrgetter("st_mode", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")

_O_PATH = getattr(os, "O_PATH", os.O_RDONLY)
_DIRECTORY = _O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_MAX_LINKS = 40


class WorkspaceRoot:
    """Opens paths beneath `workspace`, but none in the directories `private`."""

    def __init__(self, workspace: str, private: Sequence[Path] = (), *, kernel: bool = True) -> None:
        self.path = os.path.realpath(workspace)
        self._prefixes = tuple({f"{each.rstrip('/')}/" for each in (self.path, os.path.abspath(workspace))})
        self._fd = -1
        # Keep old handles open: a thread may use one, and its number must not mean another file.
        self._handles: list[int] = []
        self._identity = (0, 0)
        self._private = _beneath(self.path, private)
        #: Those directories relative to the workspace, if they are inside.
        self.private = frozenset(place[len(self.path) :].strip("/") for place in self._private)
        self._kernel = kernel and is_available()
        self._root()

    def close(self) -> None:
        for handle in self._handles:
            os.close(handle)
        self._handles.clear()
        self._fd = -1

    def __del__(self) -> None:
        self.close()

    def relative(self, path: str) -> str:
        """The path below the workspace, as a name for system calls. Doesn't look at the disk."""
        try:
            name = text_to_name(path)
        except UnicodeError as error:
            raise PathDenied("The path is not valid text. Give a plain path relative to the workspace.") from error
        if "\0" in name:
            raise PathDenied("The path holds a NUL character. Give a plain path relative to the workspace.")
        if name.startswith("/"):
            prefix = next((each for each in self._prefixes if f"{name}/".startswith(each)), None)
            if prefix is None:
                raise PathDenied(f"{path} is outside the workspace. Use a path relative to {self.path}.")
            name = name[len(prefix) :]
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if ".." in parts and _climbs(parts):
            raise PathDenied(f"{path} leads out of the workspace. Use a path beneath {self.path}.")
        return "/".join(parts) or "."

    def open(self, path: str, flags: int = _O_PATH, mode: int = 0) -> int:
        """A handle on a path. Follows links that stay beneath the workspace."""
        name = self.relative(path)
        if flags & os.O_NONBLOCK and self._is_special(name, follow=not flags & os.O_NOFOLLOW):
            raise NotAFile(f"{path} is a pipe, socket or device, not a regular file.")
        return self._open(name, flags, mode, path)

    def _is_special(self, name: str, *, follow: bool) -> bool:
        """Whether it is none of file, directory and link just now: then it isn't even opened."""
        try:
            mode = os.stat(name, dir_fd=self._root(), follow_symlinks=follow).st_mode
        except OSError:
            return False
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))

    def seems_regular(self, path: str, limit: int | None = None) -> bool:
        """Whether it was a regular file of at most `limit` bytes just now.

        Opening a pipe would disturb the process at its other end.
        """
        try:
            found = os.stat(self.relative(path), dir_fd=self._fd)
        except OSError:
            return False
        return stat.S_ISREG(found.st_mode) and (limit is None or found.st_size <= limit)

    def parent(self, path: str, *, create: bool = False, follow: bool = True, links: bool = True) -> tuple[int, str]:
        """A handle on the directory of a path, and the last name.

        `follow` resolves a final link; without `links`, no directory on the way may be one.
        """
        name = self.relative(path)
        for _ in range(_MAX_LINKS):
            directory, _, last = name.rpartition("/")
            if last in (".", ".."):
                raise PathDenied(f"{path} is a directory, and a file is needed here.")
            handle = self._directory(directory or ".", path, create=create, links=links)
            if not follow:
                return handle, last
            try:
                target = _target(last, handle, path)
            except PathDenied:
                os.close(handle)
                raise
            if target is None:
                return handle, last
            os.close(handle)
            name = self.relative(name_to_text(f"{directory}/{target}" if directory else target))
        raise PathDenied(f"{path} is a link that leads back to itself.")

    def real(self, path: str) -> str:
        """The path without links, relative to the workspace. Its end need not exist, nor where a link leads."""
        name, missing, links = self.relative(path), "", 0
        while name != ".":
            try:
                handle, last = self.parent(name_to_text(name), follow=False)
            except FileMissing:
                name, _, last = name.rpartition("/")
                missing = f"{last}/{missing}" if missing else last
                name = name or "."
                continue
            with closed_after(handle):
                directory = path_of(handle)[len(self.path) :].strip("/")
                target = _target(last, handle, path)
            if target is None:
                return name_to_text("/".join(part for part in (directory, last, missing) if part))
            links += 1
            if links > _MAX_LINKS:
                raise PathDenied(f"{path} is a link that leads back to itself.")
            name = self.relative(name_to_text(f"{directory}/{target}" if directory else target))
        return name_to_text(missing) or "."

    def _directory(self, directory: str, path: str, *, create: bool, links: bool) -> int:
        try:
            return self._open(directory, _DIRECTORY, 0, path, links=links)
        except FileMissing:
            if not create or directory == ".":
                raise
        upper, _, last = directory.rpartition("/")
        handle = self._directory(upper or ".", path, create=True, links=links)
        try:
            with suppress(FileExistsError):
                os.mkdir(last, 0o777, dir_fd=handle)
        except OSError as error:
            raise _open_error(path, error) from error
        finally:
            os.close(handle)
        return self._open(directory, _DIRECTORY, 0, path, links=links)

    def _root(self) -> int:
        """The workspace's handle, opened again if its path now names another directory."""
        try:
            now = os.lstat(self.path)
        except OSError as error:
            raise WorkspaceGone(
                f"The workspace {self.path} is gone.", advice="Wait until it is back, or tell the user."
            ) from error
        if not stat.S_ISDIR(now.st_mode):
            raise WorkspaceGone(f"The workspace {self.path} is not a directory any more.", advice="Tell the user.")
        if self._fd < 0 or (now.st_dev, now.st_ino) != self._identity:
            self._fd = os.open(self.path, _DIRECTORY | os.O_NOFOLLOW)
            self._handles.append(self._fd)
            opened = os.fstat(self._fd)
            self._identity = (opened.st_dev, opened.st_ino)
        return self._fd

    def _open(self, name: str, flags: int, mode: int, path: str, *, links: bool = True) -> int:
        root = self._root()
        try:
            if self._kernel:
                handle = openat2(root, name, flags, mode, BENEATH | (NO_MAGICLINKS if links else NO_SYMLINKS))
            else:
                handle = _walk(root, name, flags | os.O_CLOEXEC, mode, _MAX_LINKS if links else 0)
        except OSError as error:
            raise _open_error(path, error) from error
        if self._private and self._is_private(handle):
            os.close(handle)
            raise PathDenied(f"{path} belongs to the sidecar itself. No tool reads or writes it.")
        return handle

    def _is_private(self, handle: int) -> bool:
        real = f"{path_of(handle)}/"
        return any(real.startswith(f"{place}/") for place in self._private)


def _target(name: str, directory: int, path: str) -> str | None:
    """Where a link leads; `None` if it is no link."""
    try:
        target = os.readlink(name, dir_fd=directory)
    except OSError:
        return None
    if target.startswith("/"):
        raise PathDenied(f"{path} is a link that leads out of the workspace.")
    return target


def path_of(handle: int) -> str:
    """The path of an open handle, as the kernel knows it."""
    if sys.platform == "darwin":
        import fcntl

        return fcntl.fcntl(handle, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0").decode()
    return os.readlink(f"/proc/self/fd/{handle}")


def _walk(root: int, name: str, flags: int, mode: int, most_links: int) -> int:
    """Open a path part by part. Links are walked like paths; `..` goes back to a handle we hold."""
    handles = [os.dup(root)]
    parts = [part for part in name.split("/") if part not in ("", ".")]
    links = 0
    try:
        while parts:
            part = parts.pop(0)
            if part == "..":
                if len(handles) == 1:
                    raise OSError(errno.EXDEV, "leads out of the workspace")
                os.close(handles.pop())
                continue
            try:
                target = os.readlink(part, dir_fd=handles[-1])
            except OSError:
                wanted = flags | os.O_NOFOLLOW if not parts else _DIRECTORY | os.O_NOFOLLOW
                handles.append(os.open(part, wanted, mode, dir_fd=handles[-1]))
                continue
            links += 1
            if links > most_links:
                raise OSError(errno.ELOOP, "too many links")
            if target.startswith("/"):
                raise OSError(errno.EXDEV, "leads out of the workspace")
            parts[:0] = [piece for piece in target.split("/") if piece not in ("", ".")]
        if len(handles) == 1:
            return os.open(".", flags, mode, dir_fd=root)
        return handles.pop()
    finally:
        for handle in handles:
            os.close(handle)


def _climbs(parts: list[str]) -> bool:
    depth = 0
    for part in parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False


def _beneath(root: str, private: Sequence[Path]) -> tuple[str, ...]:
    places = dict.fromkeys(map(os.path.realpath, private))
    return tuple(place for place in places if f"{place}/".startswith(f"{root.rstrip('/')}/"))


def _open_error(path: str, error: OSError) -> ToolError:
    """Fails closed: everything that isn't plainly missing is denied."""
    match error.errno:
        case errno.ENOENT:
            return FileMissing(f"{path} does not exist.", advice="Look with list_dir or find_files.")
        case errno.ENOTDIR:
            return NotADirectory(f"A part of {path} is a file where a directory is needed.")
        case errno.EXDEV | errno.EAGAIN:
            return PathDenied(f"{path} leads out of the workspace through a link.")
        case errno.ELOOP:
            return PathDenied(f"{path} leads through a link that can't be followed.")
        case errno.ENAMETOOLONG:
            return PathDenied("The path is too long. Use a shorter one.")
        case errno.ENOSPC | errno.EDQUOT | errno.EROFS:
            return ToolError(f"{path} can't be written: {error.strerror}.", advice="Tell the user.", code="disk")
        case errno.ENXIO:
            return PathDenied(f"{path} is not a regular file.")
        case _:
            advice = "Choose another path, or tell the user."
            return PathDenied(f"{path} can't be opened: {error.strerror}.", advice=advice)


# -- names as text -----------------------------------------------------------------------------------------------

_BASE = 0xEF00
_STRAY = re.compile("[\udc80-\udcff]")
_PRIVATE = re.compile("[\uef80-\uefff]")


def name_to_text(name: str) -> str:
    """A file name as text that is valid in JSON. Each name has one text, and each such text is that name again.

    Bytes that aren't UTF-8 become the private characters U+EF80 to U+EFFF. A name that really holds one of those is
    encoded byte by byte in the same way, so no two names look alike.
    """
    if name.isascii():
        return name
    plain = _PRIVATE.sub(lambda match: "".join(chr(_BASE + byte) for byte in match[0].encode()), name)
    return _STRAY.sub(lambda match: chr(ord(match[0]) - 0xDC00 + _BASE), plain)


def text_to_name(text: str) -> str:
    """The inverse of `name_to_text`."""
    if text.isascii():
        return text
    raw = _PRIVATE.sub(lambda match: chr(ord(match[0]) - _BASE + 0xDC00), text)
    # Stray bytes may form a valid character together.
    return os.fsdecode(os.fsencode(raw))


def read_handle(handle: int, path: str, limit: int, offset: int = 0) -> bytes:
    """Raises `NotAFile` unless it is a regular file."""
    mode = os.fstat(handle).st_mode
    if stat.S_ISDIR(mode):
        raise NotAFile(f"{path} is a directory.", advice="Use list_dir for its entries.")
    if not stat.S_ISREG(mode):
        raise NotAFile(f"{path} is a pipe, socket or device, not a regular file.")
    if offset:
        os.lseek(handle, offset, os.SEEK_SET)
    chunks = []
    while limit > 0 and (chunk := os.read(handle, min(limit, 1 << 20))):
        chunks.append(chunk)
        limit -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
