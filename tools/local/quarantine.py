"""Keeps what commands wrote to protected files, in the data directory, for the last few commands."""

import errno
import os
import shutil
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

_MAX_COMMANDS = 64
#: Versions of one file of one command; the last one is then replaced.
_MAX_VERSIONS = 20
#: Of a name, in bytes; file systems take 255.
_MAX_NAME = 200


class Quarantine:
    def __init__(self, place: Path) -> None:
        self._place = place

    def take(self, handle: int, name: str, mark: str, path: str) -> Path:
        """Move a name out of the directory of this handle. Returns its new path."""
        folder = self._place / mark
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._make_room()
        target = _free_name(folder / _flatten(path))
        try:
            os.rename(name, target, src_dir_fd=handle)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _copy_and_remove(handle, name, target)
        return target

    def _make_room(self) -> None:
        with suppress(FileNotFoundError):  # another process makes room too
            folders = sorted(self._place.iterdir(), key=lambda place: place.lstat().st_mtime)
            for place in folders[:-_MAX_COMMANDS]:
                shutil.rmtree(place, ignore_errors=True)


def _flatten(path: str) -> str:
    """A path as one name. A long one is cut and gets a digest."""
    name = path.replace("/", "∕")
    if len(os.fsencode(name)) <= _MAX_NAME:
        return name
    end = os.fsencode(name)[-_MAX_NAME // 2 :].decode("utf-8", "ignore")
    return f"{sha256(os.fsencode(path)).hexdigest()[:16]}…{end}"


def _free_name(target: Path) -> Path:
    names = [target, *(target.with_name(f"{target.name}+{number}") for number in range(1, _MAX_VERSIONS))]
    free = next((place for place in names if not os.path.lexists(place)), None)
    if free is not None:
        return free
    if names[-1].is_dir() and not names[-1].is_symlink():
        shutil.rmtree(names[-1], ignore_errors=True)
    else:
        names[-1].unlink(missing_ok=True)
    return names[-1]


def _copy_and_remove(handle: int, name: str, target: Path) -> None:
    """Move to another file system. A pipe has no content to copy, and reading it may never end."""
    mode = os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode):
        os.rmdir(name, dir_fd=handle)  # its files are in quarantine already
        return
    with suppress(OSError):
        if stat.S_ISLNK(mode):
            target.symlink_to(os.readlink(name, dir_fd=handle))
        else:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with open(os.open(name, flags, dir_fd=handle), "rb") as reader:  # noqa: PTH123
                if stat.S_ISREG(os.fstat(reader.fileno()).st_mode):
                    with target.open("xb") as writer:
                        shutil.copyfileobj(reader, writer)
    os.unlink(name, dir_fd=handle)
