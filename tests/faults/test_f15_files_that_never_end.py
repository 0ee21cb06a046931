"""F15: a huge file, a binary, a device, a pipe, a socket: answered at once, capped or refused, without the memory."""

import asyncio
import os
import resource
import socket
from pathlib import Path

import pytest

from tests.support.workbench import Workbench, workbench
from tests.waiting import SECONDS


def _huge(bench: Workbench) -> str:
    with (bench.workspace / "huge").open("wb") as file:
        file.write(b"first line\n" * 1000)
        file.truncate(1 << 30)
    return "huge"


def _huge_text(bench: Workbench) -> str:
    place = bench.write("text", ("x" * 99 + "\n") * 200_000)
    return place.name


def _pipe(bench: Workbench) -> str:
    os.mkfifo(bench.workspace / "pipe")
    return "pipe"


def _socket(bench: Workbench) -> str:
    here = Path.cwd()
    os.chdir(bench.workspace)
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("socket")
    finally:
        os.chdir(here)
    return "socket"


def _zero(bench: Workbench) -> str:
    try:
        os.mknod(bench.workspace / "zero", 0o666 | 0o020000, os.makedev(1, 5))
    except OSError:
        pytest.skip("only root makes devices")
    return "zero"


def _binary(bench: Workbench) -> str:
    return bench.write("binary", b"\x7fELF\0\0").name


@pytest.mark.parametrize("make", [_huge, _huge_text, _pipe, _socket, _zero, _binary])
async def test_f15_it_is_answered_without_reading_to_the_end(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    async with workbench(tmp_path) as bench:
        path = make(bench)
        await bench.call("list_dir")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for tool, args in (
            ("read_file", {"path": path}),
            ("read_files", {"paths": [path]}),
            ("read_file", {"path": path, "endLine": 3}),
            ("delete_file" if path == "pipe" else "analyze_code", {"path": path}),
            *([] if path == "text" else [("edit_file", {"path": path, "oldText": "a", "newText": "b"})]),
        ):
            async with asyncio.timeout(SECONDS):
                outcome = await bench.call(tool, **args)
            assert len(outcome.content) < 100_000
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        assert grown < 20


async def test_f15_a_huge_file_is_paged_without_being_held(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        path = _huge_text(bench)
        await bench.call("read_file", path=path, startLine=10)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        outcome = await bench.call("read_file", path=path, startLine=199_999)

        assert outcome.content.startswith("199999 xxx")
        assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 20
