"""Where what was taken back from commands is kept: in the sidecar's own directory, the last few commands' only."""

import errno
import os
import shutil
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

_SETS = 64
#: How often the same file is kept of one command; who writes it again and again finds the last one replaced.
_VERSIONS = 20
#: Of a name, in bytes; file systems take 255.
_LONGEST = 200


class Aside:
    def __init__(self, place: Path) -> None:
        self._place = place

    def take(self, handle: int, name: str, mark: str, path: str) -> Path:
        """Moves what has a name in the directory of this handle; the answer is where it is now."""
        folder = self._place / mark
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._make_room()
        target = _free(folder / _flat(path))
        try:
            os.rename(name, target, src_dir_fd=handle)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _moved(handle, name, target)
        return target

    def _make_room(self) -> None:
        with suppress(FileNotFoundError):  # somebody else makes room, too
            kept = sorted(self._place.iterdir(), key=lambda place: place.lstat().st_mtime)
            for place in kept[:-_SETS]:
                shutil.rmtree(place, ignore_errors=True)


def _flat(path: str) -> str:
    """A path as one name. A long one is cut, and told from others by its digest: it must be possible to make it."""
    name = path.replace("/", "∕")
    if len(os.fsencode(name)) <= _LONGEST:
        return name
    end = os.fsencode(name)[-_LONGEST // 2 :].decode("utf-8", "ignore")
    return f"{sha256(os.fsencode(path)).hexdigest()[:16]}…{end}"


def _free(target: Path) -> Path:
    """A name of its own for each time; at last that of the newest one, which goes."""
    names = [target, *(target.with_name(f"{target.name}+{number}") for number in range(1, _VERSIONS))]
    free = next((place for place in names if not os.path.lexists(place)), None)
    if free is not None:
        return free
    if names[-1].is_dir() and not names[-1].is_symlink():
        shutil.rmtree(names[-1], ignore_errors=True)
    else:
        names[-1].unlink(missing_ok=True)
    return names[-1]


def _moved(handle: int, name: str, target: Path) -> None:
    """To another file system: its bytes, or where it leads; then the name goes. A pipe has neither, and may not end."""
    mode = os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode):
        os.rmdir(name, dir_fd=handle)  # what was in it has been set aside before
        return
    with suppress(OSError):
        if stat.S_ISLNK(mode):
            target.symlink_to(os.readlink(name, dir_fd=handle))
        else:
            _copied(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=handle), target)
    os.unlink(name, dir_fd=handle)


def _copied(source: int, target: Path) -> None:
    with open(source, "rb") as reader:
        if stat.S_ISREG(os.fstat(source).st_mode):
            with target.open("xb") as writer:
                shutil.copyfileobj(reader, writer)
