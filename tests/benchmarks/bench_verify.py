"""What verification costs beside what it runs: nothing where there is nothing to verify, little where there is."""

import asyncio
import shutil
import tempfile
import time
from pathlib import Path

from sidecar.engine.state import TaskState
from sidecar.verify.cases import find_cases
from sidecar.verify.change import FileVersions
from sidecar.verify.claims import parse_claims
from sidecar.verify.removed_tests import check_assertions, find_removed
from sidecar.verify.syntax import check_syntax
from sidecar.verify.workspace_copy import copy_workspace
from sidecar.work.changes import needs_verification
from tests.benchmarks.result import Result
from tools.ledger import IntentRecord, Outcome

CALLS = 500
CHANGED = 20
FILES = 2_000
_SOURCE = "".join(
    f"def test_{number}(x):\n    value = f(x)\n    assert value == {number}\n\n\n" for number in range(60)
)
_WORDS = "I fixed `src/a.py` and added a test to tests/test_a.py. All tests pass.\n" * 20


async def run() -> list[Result]:
    return [_nothing_to_verify(), _looking(), await _copying()]


def _nothing_to_verify() -> Result:
    memory = TaskState()
    for number in range(CALLS):
        memory.intents[f"t.r1.1-coder.{number}.0"] = IntentRecord(tool="run_command", args={}, backend="local")
        memory.outcomes[f"t.r1.1-coder.{number}.0"] = Outcome(status="success", content="", summary="", duration_ms=1)
    taken = min(_timed(lambda: needs_verification(memory, "do it")) for _ in range(20)) * 1000
    return Result(f"the end of a task of {CALLS} calls without edits", taken, "ms", most=1)


def _looking() -> Result:
    after = _SOURCE.encode()
    changes = [
        FileVersions(f"tests/test_{number}.py", after.replace(b"f(x)", b"g(x)"), after) for number in range(CHANGED)
    ]

    def look() -> None:
        find_cases.cache_clear()
        check_syntax(changes)
        check_assertions(changes)
        find_removed(changes)
        parse_claims(_WORDS)

    def parse() -> None:
        for change in changes:
            compile(change.after or b"", change.path, "exec", dont_inherit=True)

    taken, parsed = min(_timed(look) for _ in range(5)), min(_timed(parse) for _ in range(5))
    name = f"looking at {CHANGED} changed files of {len(_SOURCE.splitlines())} lines"
    return Result(name, taken * 1000, "ms", ratio=taken / parsed, baseline="compiling them once", most_ratio=20)


async def _copying() -> Result:
    with tempfile.TemporaryDirectory() as directory:
        workspace = Path(directory) / "workspace"
        for number in range(FILES):
            file = workspace / f"folder{number % 50}" / f"file{number}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_SOURCE)
        taken, plain = [], []
        for round_ in range(3):
            began = time.perf_counter()
            async with copy_workspace(str(workspace), "bench", {"folder0/file0.py": b"old"}):
                taken.append(time.perf_counter() - began)
            plain.append(_timed(lambda to=Path(directory) / f"plain{round_}": shutil.copytree(workspace, to)))
            await asyncio.sleep(0)
    best, beside = min(taken), min(plain)
    name = f"a private copy of {FILES:,} files"
    return Result(name, best, "s", ratio=best / beside, baseline="shutil.copytree", most_ratio=2)


def _timed(work: object) -> float:
    began = time.perf_counter()
    assert callable(work)
    work()
    return time.perf_counter() - began
