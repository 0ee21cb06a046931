"""Temporary directories of this process, all in one place, and the sweep of those that killed processes left.

The place holds a lock for as long as its process lives, so another process can tell whether it is in use.
"""

import atexit
import fcntl
import os
import shutil
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path

_PREFIX = "brain-run-"
_LOCK = "lock"
_UNLOCKED_SECONDS = 3_600
#: The directory for logs of what running commands change, in the data directory.
TRACES = "traces"

_places: dict[int, str] = {}


def make_directory(purpose: str, owner: object) -> str:
    """A private directory, removed with its owner."""
    place = tempfile.mkdtemp(prefix=f"{purpose}-", dir=_place())
    weakref.finalize(owner, shutil.rmtree, place, ignore_errors=True)
    return place


def scratch_directory(purpose: str) -> "tempfile.TemporaryDirectory[str]":
    """A private directory for a `with` block."""
    return tempfile.TemporaryDirectory(prefix=f"{purpose}-", dir=_place())


def sweep() -> int:
    """Remove what killed processes of this user left; returns how many there were."""
    swept = 0
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            found = left.stat(follow_symlinks=False)
            if found.st_uid == os.getuid() and _is_stale(left):
                shutil.rmtree(left, ignore_errors=True)
                swept += 1
    return swept


def sweep_traces(data_dir: Path, days: float) -> int:
    """Remove the change logs of commands whose tasks are no longer kept: a killed sidecar left them."""
    swept, oldest = 0, time.time() - days * 86_400
    for left in (data_dir / TRACES).glob("*.log"):
        with suppress(OSError):
            if left.stat(follow_symlinks=False).st_mtime < oldest:
                left.unlink()
                swept += 1
    return swept


def _place() -> str:
    """This process's own; a child that was forked makes another."""
    pid = os.getpid()
    if pid not in _places:
        place = tempfile.mkdtemp(prefix=_PREFIX)
        unnamed = Path(place, f"{_LOCK}.new")
        handle = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        # Under its name only once it is locked: another process that sweeps now would take the place for a left one.
        unnamed.rename(Path(place, _LOCK))
        if _places.setdefault(pid, place) == place:
            atexit.register(_remove, pid)
        else:  # another thread was faster
            os.close(handle)
            shutil.rmtree(place, ignore_errors=True)
    return _places[pid]


def _remove(pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(_places.pop(pid), ignore_errors=True)


def _is_stale(place: Path) -> bool:
    try:
        handle = os.open(place / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        # Just made and not yet locked, or its process was killed before it could.
        return time.time() - place.stat(follow_symlinks=False).st_mtime > _UNLOCKED_SECONDS
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
