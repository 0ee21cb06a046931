"""A cache that serves nothing stale, however fast the file changes."""

import os
import time
from pathlib import Path

from sidecar.cache import Caches, Stamp, VerifiedCache
from sidecar.cache.watcher import Watcher
from tests.waiting import wait_until


def _held(path: Path, *, age: float = 1.0) -> Stamp:
    """A file as it was a while ago, so that it may be kept."""
    past = time.time() - age
    os.utime(path, (past, past))
    stamp = Stamp.of(str(path))
    assert stamp is not None
    return stamp


class _Old(Stamp):
    def steady(self, now_ns: int | None = None) -> bool:
        return True


def _cache(**options: float) -> VerifiedCache[str]:
    return VerifiedCache(options.get("seconds", 30.0), int(options.get("size", 100_000)))


def test_a_value_is_served_while_its_files_are_unchanged(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("one")
    cache = _cache()
    stamp = Stamp.of(str(place))
    assert stamp is not None
    cache.put(("w", "k"), "value", 5, [(str(place), _Old(*stamp))])

    assert cache.get(("w", "k")) == "value"


def test_a_change_of_the_same_size_and_time_is_still_seen(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("one")
    stamp = _held(place)
    cache = _cache()
    cache.put(("w", "k"), "value", 5, [(str(place), _Old(*stamp))])
    place.write_text("two")
    os.utime(place, ns=(stamp.mtime_ns, stamp.mtime_ns))

    assert cache.get(("w", "k")) is None


def test_a_file_that_changed_a_moment_ago_is_not_kept(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("one")
    stamp = Stamp.of(str(place))
    assert stamp is not None and not stamp.steady()
    cache = _cache()
    cache.put(("w", "k"), "value", 5, [(str(place), stamp)])

    assert len(cache) == 0
    assert stamp.steady(now_ns=stamp.ctime_ns + 1_000_000_000)


def test_a_deleted_file_is_a_miss(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("one")
    cache = _cache()
    cache.put(("w", "k"), "value", 5, [(str(place), _Old(*_held(place)))])
    place.unlink()

    assert cache.get(("w", "k")) is None


def test_a_cache_is_bounded_by_bytes() -> None:
    cache = _cache(size=10_000)
    for number in range(100):
        cache.put(("w", str(number)), "x", 800, [])

    assert cache.size <= 10_000
    assert cache.get(("w", "99")) == "x" and cache.get(("w", "0")) is None


def test_a_value_grows_old() -> None:
    now = 0.0
    cache: VerifiedCache[str] = VerifiedCache(30.0, 1_000, clock=lambda: now)
    cache.put(("w", "k"), "x", 1, [])
    now = 29.9
    assert cache.get(("w", "k")) == "x"
    now = 30.1
    assert cache.get(("w", "k")) is None


def test_one_workspace_is_cleared_without_the_others() -> None:
    cache = _cache()
    cache.put(("one", "k"), "x", 1, [])
    cache.put(("two", "k"), "y", 1, [])
    cache.clear("one")

    assert cache.get(("one", "k")) is None and cache.get(("two", "k")) == "y"


def test_a_change_that_the_watcher_heard_frees_the_room(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("one")
    caches = Caches(Watcher(delay=0))
    try:
        caches.put("files", (str(tmp_path), "k"), "x", 1, [(str(place), _Old(*_held(place)))])
        assert caches.watcher.started()
        place.write_text("two")
        wait_until(lambda: str(place) in caches.watcher.drain()[0])
    finally:
        caches.close()


def test_more_changes_than_can_be_kept_clear_everything() -> None:
    watcher = Watcher()
    caches = Caches(watcher)
    caches._kinds["files"].put(("w", "k"), "x", 1, [])
    for number in range(20_000):
        watcher.report(f"/w/{number}")

    assert caches.get("files", ("w", "k")) is None
