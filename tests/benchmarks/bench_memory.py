"""The memory: building an index beside reading and parsing the same files, asking it, and taking in one edit."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

from sidecar.config.weights import VectorsUnavailable, find_weights
from sidecar.memory.answers import answer_search
from sidecar.memory.port import SearchRequest
from sidecar.memory.store import open_store, size_of
from sidecar.memory.updates import update_files
from tests.benchmarks.result import Result
from tests.e2e.support import PROJECT
from tools.code.source import SourceText

LINES = 500_000
SMALL_LINES = 50_000
ROUNDS = 15
QUESTIONS = 70
_QUERIES = (
    "parse the command line arguments",
    "open a socket and wait for connections",
    "decode quoted printable text",
    "copy a directory tree",
    "format a traceback of an exception",
    "read the members of a zip archive",
    "cancel all pending tasks of the loop",
)


async def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        large, small = root / "large", root / "small"
        source = _copy_source(large, LINES)
        _copy_source(small, SMALL_LINES)
        before = _read_and_parse(large)
        built, memory = _build(root / "large.db", large, root)
        plain = (before + _read_and_parse(large)) / 2
        _build(root / "small.db", small, root)
        asked, slow = _ask(root / "large.db", large)
        edit, small_edit = _edit(root / "large.db", large), _edit(root / "small.db", small)
        size = size_of(root / "large.db")
        vectors = _with_vectors(root, large, built, size)
        lines = f"{LINES:,} lines"
        return [
            Result(f"index {lines}", built, "s", built / plain, "reading and parsing them once", most_ratio=3),
            Result("memory of the building process", memory / 1e6, "MB", most=80),
            Result("size of the index", size / 1e6, "MB", size / source, "the source", most_ratio=2),
            Result(f"one question at {lines}, of processor time", asked * 1e3, "ms", most=20),
            Result("one question in twenty takes longer than", slow * 1e3, "ms", most=20),
            Result(f"take in one edit at {lines}", edit * 1e3, "ms", edit / small_edit, "at a tenth of that", most=200),
            *vectors,
        ]


def _with_vectors(root: Path, workspace: Path, built: float, size: int) -> list[Result]:
    """What `memory_vectors` adds to an index and to a question; nothing if the weights are not installed."""
    try:
        find_weights()
    except VectorsUnavailable:
        return []
    asked, _ = _ask(root / "large.db", workspace)
    more, memory = _build(root / "large.db", workspace, root, "vectors")
    slower, _ = _ask(root / "large.db", workspace, vectors=True)
    grown = size_of(root / "large.db")
    return [
        Result("vectors of all chunks", more, "s", more / built, "the index", most_ratio=1),
        Result("memory of the building process, with vectors", memory / 1e6, "MB"),
        Result("size with vectors", grown / 1e6, "MB", grown / size, "without", most_ratio=1.5),
        Result("one question with vectors", slower * 1e3, "ms", slower / asked, "without"),
    ]


def _copy_source(root: Path, lines: int) -> int:
    """Real code that is on every machine: Python's own library, several times if need be."""
    library, total, copied = Path(os.__file__).parent, 0, 0
    for number in count():
        for path in sorted(library.rglob("*.py")):
            if copied >= lines:
                return total
            text = path.read_bytes()
            if "site-packages" in path.parts or len(text) > 500_000:
                continue
            target = root / f"copy_{number}" / path.relative_to(library)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
            total += len(text)
            copied += text.count(b"\n")
    raise AssertionError("unreachable")


def _read_and_parse(root: Path) -> float:
    """Seconds of processor time, as of the build: other programs disturb both the same."""
    began = time.process_time()
    for path in root.rglob("*.py"):
        _ = SourceText(str(path), path.read_bytes()).root
    return time.process_time() - began


def _build(store: Path, workspace: Path, data: Path, *more: str) -> tuple[float, int]:
    """Seconds of processor time, with its start and its children, and the most bytes that it had in memory."""
    command = [sys.executable, "-m", "sidecar.memory.builder", str(store), str(workspace), str(data), "off", "normal"]
    command += more
    process = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=PROJECT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert process.stdin is not None
    process.stdin.close()
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def _ask(path: Path, workspace: Path, *, vectors: bool = False) -> tuple[float, float]:
    """Seconds of processor time: the median, and what 19 in 20 questions stay below."""
    times: list[float] = []
    store = open_store(path, readonly=True)
    for number in range(QUESTIONS):
        query = _QUERIES[number % len(_QUERIES)]
        began = time.process_time()
        hits, _ = answer_search(store, str(workspace), SearchRequest(query), vectors=vectors)
        times.append(time.process_time() - began)
        assert hits
    store.close()
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def _edit(path: Path, workspace: Path) -> float:
    store, times = open_store(path), []
    file = workspace / "copy_0/abc.py"
    for number in range(ROUNDS):
        file.write_text(file.read_text() + f"def walrus_{number}():\n    return {number}\n")
        began = time.perf_counter()
        assert update_files(store, str(workspace), ["copy_0/abc.py"])
        times.append(time.perf_counter() - began)
    store.close()
    return statistics.median(times)
