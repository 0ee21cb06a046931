"""The memory: building an index beside reading and parsing the same files, asking it, and taking in one edit."""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sidecar.memory.answers import answer_search
from sidecar.memory.port import Search
from sidecar.memory.store import open_store, size_of
from sidecar.memory.updates import update_files
from tests.benchmarks.result import Result
from tests.e2e.support import PROJECT
from tools.code.source import Source

FILES = 5_000
SMALL_FILES = 500
LINES = 100
ROUNDS = 15
_VOCABULARY = """
account address archive balance batch bucket buffer cache channel chunk client cluster column config connection
context cookie counter cursor customer database deadline decoder delivery device digest document domain editor
encoder engine entry event export filter folder format gateway handler header history image index invoice journal
kernel key label layer ledger letter limit listener lock mail marker message method metric mirror module monitor
network notice object offer order output package page parser payment payload permission person pipeline plugin
policy pool price process product profile project proxy query queue record region report request resource response
result route row rule schema scope secret section segment sender server session setting shard signal snapshot
socket source stage state storage stream supplier table task template tenant ticket token topic trace transfer tree
update user vault vendor version view volume warehouse watcher weight window worker zone
"""
_WORDS = _VOCABULARY.split()


async def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        large, small = root / "large", root / "small"
        source = _write_project(large, FILES)
        _write_project(small, SMALL_FILES)
        plain = _read_and_parse(large)
        built, memory = _build(root / "large.db", large, root)
        _build(root / "small.db", small, root)
        asked = _ask(root / "large.db", large)
        edit, small_edit = _edit(root / "large.db", large), _edit(root / "small.db", small)
        size = size_of(root / "large.db")
        lines = f"{FILES * LINES:,} lines"
        return [
            Result(f"index {lines}", built, "s", built / plain, "reading and parsing them once", most_ratio=3),
            Result("memory of the building process", memory / 1e6, "MB", most=120),
            Result("size of the index", size / 1e6, "MB", size / source, "the source", most_ratio=2),
            Result(f"one question at {lines}", asked * 1e3, "ms", most=20),
            Result(f"take in one edit at {lines}", edit * 1e3, "ms", edit / small_edit, "at a tenth of that", most=200),
        ]


def _write_project(root: Path, files: int) -> int:
    chance, total = random.Random(1), 0
    for number in range(files):
        folder = root / f"package_{number % 50}"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"import package_{(number + 1) % 50}.module_{(number + 1) % files}\n\n\n"
        while text.count("\n") < LINES:
            names = chance.choices(_WORDS, k=8)
            text += f"def {'_'.join(names[:3])}({names[3]}, {names[4]}):\n"
            text += f'    """{" ".join(names).capitalize()}."""\n'
            text += "".join(f"    {each} = {names[3]}.{chance.choice(_WORDS)}({names[4]})\n" for each in names[5:])
            text += f"    return {names[5]}\n\n\n"
        (folder / f"module_{number}.py").write_text(text)
        total += len(text)
    return total


def _read_and_parse(root: Path) -> float:
    began = time.perf_counter()
    for path in root.rglob("*.py"):
        _ = Source(str(path), path.read_bytes()).root
    return time.perf_counter() - began


def _build(store: Path, workspace: Path, data: Path) -> tuple[float, int]:
    """Seconds, and the most bytes that the process had in memory."""
    command = [sys.executable, "-m", "sidecar.memory.builder", str(store), str(workspace), str(data), "off", "normal"]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=PROJECT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert process.stdin is not None
    process.stdin.close()
    return time.perf_counter() - began, usage.ru_maxrss * 1024


def _ask(path: Path, workspace: Path) -> float:
    chance, times = random.Random(2), []
    store = open_store(path, readonly=True)
    for _ in range(ROUNDS):
        query = " ".join(chance.choices(_WORDS, k=5))
        began = time.perf_counter()
        hits, _ = answer_search(store, str(workspace), Search(query))
        times.append(time.perf_counter() - began)
        assert hits
    store.close()
    return statistics.median(times)


def _edit(path: Path, workspace: Path) -> float:
    store, times = open_store(path), []
    file = workspace / "package_7/module_7.py"
    for number in range(ROUNDS):
        file.write_text(file.read_text() + f"def walrus_{number}():\n    return {number}\n")
        began = time.perf_counter()
        assert update_files(store, str(workspace), ["package_7/module_7.py"])
        times.append(time.perf_counter() - began)
    store.close()
    return statistics.median(times)
