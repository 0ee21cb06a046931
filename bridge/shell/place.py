"""A directory for each shell that runs: for the output of its commands, and to find what a killed one left running."""

import os
import sys
from pathlib import Path

_MOST = 1_000


class Place:
    """Held until the process ends, however it ends: the system lets go of the lock, so it is never stale."""

    def __init__(self, parent: Path) -> None:
        for number in range(_MOST):
            self.path = parent / "shells" / str(number)
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            try:
                _lock_exclusively(self._lock)
            except OSError:
                os.close(self._lock)
            else:
                return
        raise OSError(f"{_MOST} shells run with {parent} already")

    def leave(self) -> None:
        os.close(self._lock)


if sys.platform == "win32":

    def _lock_exclusively(descriptor: int) -> None:
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:

    def _lock_exclusively(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
