"""A cache that checks, at each hit, every file that the value was made from."""

import os
import time
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from cachetools import TLRUCache

V = TypeVar("V")
Key = tuple[str, ...]


#: Older kernels stamp files with a clock that moves in steps of up to 10 ms: a second change within one step looks
#: like the first. What changed so shortly before it was read is not held.
_STEP_NS = 20_000_000


class Stamp(NamedTuple):
    """Whether a file is unchanged since it was read. Cheap enough to check at each hit, so nothing stale is served."""

    size: int
    mtime_ns: int
    inode: int
    ctime_ns: int

    @classmethod
    def of(cls, path: str) -> "Stamp | None":
        try:
            found = os.stat(path)  # noqa: PTH116 (a Path would cost more than the call)
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


class _Held(NamedTuple, Generic[V]):
    value: V
    size: int
    sources: tuple[tuple[str, Stamp], ...]


class VerifiedCache(Generic[V]):
    """Bounded by bytes and by age. A key's first part is its workspace."""

    def __init__(self, seconds: float, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._keys: dict[str, set[Key]] = {}
        self._limit = size

    @cached_property
    def _held(self) -> "TLRUCache[Key, _Held[V]]":
        # Imported on first use, to keep the start fast.
        from cachetools import TLRUCache

        return TLRUCache(
            maxsize=self._limit,
            ttu=lambda _key, _value, now: now + self._seconds,
            timer=self._clock,
            getsizeof=lambda held: held.size,
        )

    def get(self, key: Key) -> V | None:
        held = self._held.get(key)
        if held is not None:
            if all(Stamp.of(path) == stamp for path, stamp in held.sources):
                return held.value
            self._held.pop(key, None)
        return None

    def put(self, key: Key, value: V, size: int, sources: Iterable[tuple[str, Stamp]]) -> None:
        held = _Held(value, size + 200, tuple(sources))
        if held.size > self._limit // 4 or not all(stamp.steady() for _, stamp in held.sources):
            return
        self._held[key] = held
        for path, _ in held.sources:
            self._keys.setdefault(path, set()).add(key)
        if len(self._keys) > 4 * len(self._held) + 10_000:
            self._forget_gone()

    def evict(self, path: str) -> None:
        for key in self._keys.pop(path, ()):
            self._held.pop(key, None)

    def clear(self, workspace: str | None = None) -> None:
        for key in [key for key in self._held if workspace is None or key[0] == workspace]:
            self._held.pop(key, None)
        self._forget_gone()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def size(self) -> float:
        return self._held.currsize

    def _forget_gone(self) -> None:
        kept: dict[str, set[Key]] = {}
        for key, held in self._held.items():
            for path, _ in held.sources:
                kept.setdefault(path, set()).add(key)
        self._keys = kept
