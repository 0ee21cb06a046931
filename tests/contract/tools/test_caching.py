"""What is cached through the executor, and that it is never stale."""

import os

from sidecar.cache import Stamp
from tests.support.workbench import Workbench
from tests.waiting import wait_until


def _age(bench: Workbench) -> None:
    """Wait out the short while in which a file's clock could hide a change."""
    places = [str(bench.workspace), *map(str, bench.workspace.rglob("*"))]
    wait_until(lambda: all(stamp.steady() for place in places if (stamp := Stamp.of(place))), pause=0.002)


async def test_a_second_read_is_cached_and_says_so(cached: Workbench) -> None:
    cached.write("a.txt", "one\n")
    _age(cached)
    first = await cached.call("read_file", path="a.txt")
    second = await cached.call("read_file", path="a.txt")

    assert (first.cached, second.cached) == (False, True)
    assert first.content == second.content
    assert cached.ledger.events[-1].cached  # type: ignore[attr-defined]


async def test_a_read_after_any_outside_write_gives_the_new_bytes(cached: Workbench) -> None:
    place = cached.write("a.txt", "0000\n")
    _age(cached)
    for number in range(1, 300):
        await cached.call("read_file", path="a.txt")
        before = place.stat()
        place.write_text(f"{number:04}\n")
        os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
        outcome = await cached.call("read_file", path="a.txt")
        assert outcome.content == f"1 {number:04}"


async def test_a_listing_after_a_new_file_has_it(cached: Workbench) -> None:
    cached.write("a.txt", "")
    _age(cached)
    for number in range(100):
        await cached.call("list_dir")
        cached.write(f"{number}.new", "")
        assert f"{number}.new" in (await cached.call("list_dir")).content
        cached.write(f"deep/{number}.new", "")
        assert f"{number}.new" in (await cached.call("read_directory_tree")).content.partition("deep/")[2]


async def test_a_tree_from_the_cache_is_marked_and_quick(cached: Workbench) -> None:
    for number in range(50):
        cached.write(f"d{number}/x", "")
    _age(cached)
    await cached.call("read_directory_tree")
    outcome = await cached.call("read_directory_tree")

    assert outcome.cached


async def test_an_error_is_not_cached(cached: Workbench) -> None:
    assert (await cached.call("read_file", path="a.txt")).status == "error"
    cached.write("a.txt", "now\n")
    assert (await cached.call("read_file", path="a.txt")).content == "1 now"


async def test_diagnostics_are_cached_until_any_source_changes(cached: Workbench) -> None:
    cached.write("a.py", "x = 1\n")
    cached.write("d/b.py", "y = 1\n")
    _age(cached)
    await cached.call("get_diagnostics")
    assert (await cached.call("get_diagnostics")).cached
    cached.write("d/c.py", "def f(:\n")
    outcome = await cached.call("get_diagnostics")
    assert not outcome.cached and "d/c.py:1" in outcome.content
