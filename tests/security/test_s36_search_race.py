"""S36: a search that runs while a folder is exchanged for a link stays in the workspace, in any tier."""

import ctypes
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.security.sandboxed import SandboxedWorkbench

_HERE, _EXCHANGE = -100, 2
_ROUNDS = 40


@pytest.fixture(params=["bubblewrap", "landlock", "none"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SandboxedWorkbench]:
    bench = SandboxedWorkbench(tmp_path, request.param)
    for place, text in ((tmp_path / "outside", "canary outside"), (bench.workspace / "folder", "canary inside")):
        place.mkdir()
        for number in range(20):
            (place / f"f{number}.txt").write_text(f"{text}\n")
    (bench.workspace / "link").symlink_to(tmp_path / "outside")
    yield bench
    await bench.executor.close()


@contextmanager
def exchanging(first: Path, second: Path) -> Iterator[None]:
    """Exchange the two names again and again, in one step each time."""
    stop, libc = threading.Event(), ctypes.CDLL(None)

    def exchange() -> None:
        while not stop.is_set():
            libc.renameat2(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


async def test_s36_a_search_is_not_led_out(bench: SandboxedWorkbench) -> None:
    found = []
    with exchanging(bench.workspace / "folder", bench.workspace / "link"):
        for number in range(_ROUNDS):
            for path in (".", "folder", f"folder/f{number % 20}.txt"):
                outcome = await bench.call("search_code", query="canary", path=path)
                found += [line for line in outcome.content.split("\n") if "outside" in line]
    assert found == []


async def test_s36_a_search_finds_what_is_there(bench: SandboxedWorkbench) -> None:
    bench.write("wide.txt", "needle ä".encode("utf-16"))
    bench.write("windows.txt", "x\r\nneedle\r\n")
    bench.write("long.txt", f"needle {'x' * 5_000}\n")
    bench.write("latin.txt", b"needle \xe4\n")
    bench.write("bom.txt", b"\xef\xbb\xbfneedle\n")
    outcome = await bench.call("search_code", query="needle")
    assert isinstance(outcome.details, dict)
    paths = {match["path"] for match in outcome.details["matches"]}
    assert paths == {"wide.txt", "windows.txt", "long.txt", "latin.txt", "bom.txt"}
