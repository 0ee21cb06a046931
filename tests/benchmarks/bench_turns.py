"""What a turn costs the sidecar itself, beside an earlier version of it: both processes run in turn, in one run.

Processor time of the whole process, so that what else the machine does hardly counts.
"""

import compileall
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.result import Result
from tests.e2e.support import PROJECT, Json, RunningSidecar, clean_environ

#: The commit that a turn must not cost more than.
REFERENCE = "118f269"
TURNS = 40
ROUNDS = 9
FILES = 50
#: Processor time varies by a few per cent from one start of the same program to the next.
NOISE = 1.03

OPTIONS = {"intent": "edit_code", "agentType": "coder", "approvals": "auto", "verify": "off"}

Call = dict[str, object]


def _read(turn: int) -> list[Call]:
    return [{"tool": "read_file", "args": {"path": f"file{turn % FILES}.txt"}}]


def _reads(turn: int) -> list[Call]:
    return [call for number in range(10) for call in _read(turn * 10 + number)]


def _edit(turn: int) -> list[Call]:
    return [{"tool": "edit_file", "args": {"path": "edited.txt", "oldText": f"<{turn}>", "newText": f"<{turn + 1}>"}}]


def _command(turn: int) -> list[Call]:
    return [{"tool": "run_command", "args": {"command": ["echo", str(turn)]}}]


KINDS: dict[str, Callable[[int], list[Call]]] = {
    "a turn with one read": _read,
    "a turn with ten reads": _reads,
    "a turn with one edit": _edit,
    "a turn with one command": _command,
}


async def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        if not _check_out(home / "reference"):
            return []
        with _sidecar(home / "before", home / "reference") as before, _sidecar(home / "now", PROJECT) as now:
            return [_compare(name, calls, before, now) for name, calls in KINDS.items()] + [_whole(before, now)]


def _check_out(place: Path) -> bool:
    """False if the commit isn't there, as in a shallow clone."""
    place.mkdir()
    archive = subprocess.run(["git", "archive", REFERENCE], cwd=PROJECT, capture_output=True)
    if archive.returncode:
        return False
    subprocess.run(["tar", "-x"], cwd=place, input=archive.stdout, check=True)
    return True


@contextmanager
def _sidecar(home: Path, source: Path) -> Iterator[RunningSidecar]:
    for folder in ("sidecar", "tools", "bridge"):
        compileall.compile_dir(source / folder, quiet=2)
    workspace = home / "workspace"
    workspace.mkdir(parents=True)
    for number in range(FILES):
        (workspace / f"file{number}.txt").write_text(f"{number}\n" * 100)
    sidecar = RunningSidecar(home / "data", workspace, (), clean_environ(home))
    sidecar.launcher = ("env", "-C", str(source), sys.executable, "-m", "sidecar")
    try:
        yield sidecar.start()
    finally:
        sidecar.close()


def _compare(name: str, calls: Callable[[int], list[Call]], before: RunningSidecar, now: RunningSidecar) -> Result:
    turns: list[Json] = [{"text": f"turn {turn}", "calls": calls(turn)} for turn in range(TURNS)]
    then, own = _alternate(lambda sidecar: _processor_time(sidecar, [*turns, {"text": "done"}]) / TURNS, before, now)
    return _result(name, then, own)


def _whole(before: RunningSidecar, now: RunningSidecar) -> Result:
    """From the request to the last event, with one read."""
    replies: list[Json] = [{"text": "look", "calls": _read(0)}, {"text": "done"}]
    then, own = _alternate(lambda sidecar: sum(_processor_time(sidecar, replies) for _ in range(10)) / 10, before, now)
    return _result("a whole task with one read", then, own)


def _alternate(
    measure: Callable[[RunningSidecar], float], before: RunningSidecar, now: RunningSidecar
) -> tuple[float, float]:
    times = [(measure(before), measure(now)) for _ in range(ROUNDS)][1:]
    return statistics.median(then for then, _ in times), statistics.median(own for _, own in times)


def _processor_time(sidecar: RunningSidecar, replies: list[Json]) -> float:
    (sidecar.workspace / "edited.txt").write_text("<0>\n" + "line\n" * 100)
    models = sidecar.script("turns", replies)
    clock = (~sidecar.pid << 3) | 2  # the kernel's name for the processor time of that process
    began = time.clock_gettime(clock)
    task_id = sidecar.execute("fix the numbers", models=models, maxIterations=len(replies), **OPTIONS)
    task = sidecar.wait_for_end(task_id, seconds=120)
    taken = time.clock_gettime(clock) - began
    assert task["status"] == "completed", json.dumps(task["error"])
    states = Counter(event["status"] for event in sidecar.events(task_id) if event["type"] == "tool")
    assert states["success"] == sum(len(reply.get("calls", [])) for reply in replies), states
    return taken


def _result(name: str, then: float, own: float) -> Result:
    return Result(name, own * 1000, "ms", ratio=own / then, baseline=f"{REFERENCE}", most_ratio=NOISE)
