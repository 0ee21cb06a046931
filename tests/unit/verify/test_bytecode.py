import os
import py_compile
from pathlib import Path

from sidecar.verify.change import FileVersions
from sidecar.verify.verifier import remove_stale_bytecode
from tests.support.check_runner import host
from tests.support.workbench import Workbench

CHANGE = FileVersions("pkg/calc.py", b"x = 1", b"x = 2")


def compiled(source: Path, written: float) -> Path:
    os.utime(source, (written, written))
    return Path(str(py_compile.compile(str(source))))


async def test_what_was_compiled_in_the_second_of_a_change_is_removed(bench: Workbench) -> None:
    source = bench.write("pkg/calc.py", "x = 1")
    cache = compiled(source, 1_000_000_000.2)
    os.utime(cache, (1_000_000_000.4, 1_000_000_000.4))
    source.write_text("x = 2")
    os.utime(source, (1_000_000_000.9, 1_000_000_000.9))
    assert await remove_stale_bytecode([CHANGE], host(bench)) == [str(cache.relative_to(bench.workspace))]
    assert not cache.exists()


async def test_what_was_compiled_long_after_the_change_stays(bench: Workbench) -> None:
    cache = compiled(bench.write("pkg/calc.py", "x = 2"), 1_000_000_000)
    other = compiled(bench.write("pkg/other.py", "x = 2"), 1_000_000_000)
    assert await remove_stale_bytecode([CHANGE, FileVersions("gone.py", b"", b"")], host(bench)) == []
    assert cache.exists()
    assert other.exists()
