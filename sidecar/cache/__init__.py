"""Results of recent reads, served only while the files behind them are unchanged."""

from collections.abc import Iterable
from typing import Any, Literal

from sidecar.cache.verified import Key, Stamp, VerifiedCache
from sidecar.cache.watcher import Watcher

__all__ = ["Caches", "Stamp", "VerifiedCache"]


CacheKind = Literal["files", "tree", "diagnostics"]

_MEGABYTE = 1 << 20


class Caches:
    """The caches of all workspaces: trees for a minute, files for half of one, diagnostics for ten seconds."""

    def __init__(self, watcher: Watcher | None = None) -> None:
        self.watcher = watcher or Watcher()
        self._kinds: dict[CacheKind, VerifiedCache[Any]] = {
            "tree": VerifiedCache(60.0, 16 * _MEGABYTE),
            "files": VerifiedCache(30.0, 64 * _MEGABYTE),
            "diagnostics": VerifiedCache(10.0, 4 * _MEGABYTE),
        }

    def get(self, kind: CacheKind, key: Key) -> Any | None:
        self._apply_changes()
        return self._kinds[kind].get(key)

    def put(self, kind: CacheKind, key: Key, value: Any, size: int, sources: Iterable[tuple[str, Stamp]]) -> None:
        self.watcher.watch(key[0])
        self._kinds[kind].put(key, value, size, sources)

    def changed(self, path: str) -> None:
        """An editor, or another early source, reports that a file changed."""
        for cache in self._kinds.values():
            cache.evict(path)

    def clear(self, workspace: str | None = None) -> None:
        for cache in self._kinds.values():
            cache.clear(workspace)

    def close(self) -> None:
        self.watcher.close()
        self.clear()

    def _apply_changes(self) -> None:
        paths, overflowed = self.watcher.drain()
        if overflowed:
            self.clear()
        else:
            for path in paths:
                self.changed(path)
