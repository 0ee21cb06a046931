"""Whether a file is unchanged since it was read. Cheap enough to check at each hit, so nothing stale is served."""

# Called so often that building a Path would cost more than the call itself.
# ruff: noqa: PTH116

import os
import time
from typing import NamedTuple

#: Older kernels stamp files with a clock that moves in steps of up to 10 ms: a second change within one step looks
#: like the first. What changed so shortly before it was read is not held.
_STEP_NS = 20_000_000


class Stamp(NamedTuple):
    size: int
    mtime_ns: int
    inode: int
    ctime_ns: int

    @classmethod
    def of(cls, path: str) -> "Stamp | None":
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return None
        return cls._seen(found)

    @classmethod
    def at(cls, handle: int) -> "Stamp":
        """The stamp of an open file or directory."""
        return cls._seen(os.fstat(handle))

    @classmethod
    def _seen(cls, found: os.stat_result) -> "Stamp":
        return cls(found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns)

    def steady(self, now_ns: int | None = None) -> bool:
        """Whether a later change is sure to show."""
        now_ns = time.time_ns() if now_ns is None else now_ns
        return max(self.mtime_ns, self.ctime_ns) < now_ns - _STEP_NS
