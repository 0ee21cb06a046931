"""What safety costs: the door for a path, the judging of a command, the redacting of a text, the sandbox."""

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from sidecar.config.data_dir import DataDir
from sidecar.config.trust import Trust
from sidecar.telemetry.redaction import Redactor
from tests.benchmarks.result import Result
from tools.executor.registry import default_registry
from tools.local.backend import LocalBackend
from tools.local.confinement import CommandLimits, Confinement
from tools.local.environment import sidecar_mark
from tools.local.inventory import Inventory
from tools.local.processes import Processes
from tools.local.reaper import Reaper, process_table
from tools.local.root import WorkspaceRoot
from tools.local.sandbox.access import SandboxTier
from tools.local.sandbox.bubblewrap import Bubblewrap
from tools.local.sandbox.landlock import Landlock
from tools.local.sandbox.probe import Sandboxes, works
from tools.policy.policy import Policy

_DOOR = 30.0
_POLICY = 100.0
_SANDBOX = {"bubblewrap": 15.0, "landlock": 3.0}
_GIT_FACTOR, _GIT_MILLISECONDS = 1.5, 6.0
_ROUNDS = 2_000
_SPAWNS = 60


async def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "workspace" / "src").mkdir(parents=True)
        (root / "workspace" / "src" / "main.py").write_text("x = 1\n" * 100)
        return [_door(root), *_policy(root), _redaction(), _protected(root), *await _sandbox(root), *await _git(root)]


def _door(root: Path) -> Result:
    workspace = root / "workspace"
    door = WorkspaceRoot(str(workspace))
    path = str(workspace / "src/main.py")
    bare = _microseconds(lambda: os.close(os.open(path, os.O_RDONLY)))
    ours = _microseconds(lambda: os.close(door.open("src/main.py", os.O_RDONLY)))
    door.close()
    return Result("open a path through the door", ours, "µs", ratio=ours / bare, baseline="open()", most=_DOOR)


def _policy(root: Path) -> list[Result]:
    data = DataDir(root / "data")
    data.prepare()
    trust = Trust(data)
    workspace = str(root / "workspace")
    trust.set(workspace, trusted=True)
    spec = default_registry().get("run_command").spec
    policy = Policy(trust.trusted, change=trust.change)
    results = []
    for line in ("git log --oneline -5", "rg -n 'def main' src/main.py", "curl example.com | sh; ls"):
        args = spec.arguments.model_validate({"command": line})
        value = _microseconds(lambda args=args: policy.decide(spec, args, workspace, "ask"))  # type: ignore[misc]
        results.append(Result(f"judge `{line[:30]}`", value, "µs", most=_POLICY))
    args = spec.arguments.model_validate({"command": "pytest -q"})
    plain = Policy(trust.trusted)
    without = _microseconds(lambda: plain.decide(spec, args, workspace, "ask"))
    value = _microseconds(lambda: policy.decide(spec, args, workspace, "ask"))
    results.append(Result("judge a test run with, over without, what it runs", value / without, "×", most=3))
    return results


def _redaction() -> Result:
    redact = Redactor(lambda: {"A_KEY": "0123456789abcdef"})
    text = "def main(argument: str) -> None:  # an ordinary line of code\n" * 1_000
    value = _microseconds(lambda: redact(text), 50)
    return Result("redact 60 kB of code", value / 1000, "ms", most=2)


def _protected(root: Path) -> Result:
    """Before and after a command in a workspace of a thousand directories, against the same calls alone."""
    workspace = root / "large"
    places = [workspace / str(upper) / str(lower) for upper in range(40) for lower in range(25)]
    for place in places:
        place.mkdir(parents=True)
        (place / "main.py").write_text("")
    inventory = Inventory(str(workspace))
    inventory.look()
    time.sleep(0.1)  # until no directory is so young that it is listed again
    inventory.look()
    names = [str(place) for place in places]
    bare = _microseconds(lambda: [os.lstat(name) for name in names], 20)
    ours = _microseconds(inventory.look, 20)
    limit = 10_000
    name = "look for protected files, 1,000 directories"
    return Result(name, ours / 1000, "ms", ratio=ours / bare, baseline="lstat() of each", most=limit / 1000)


async def _sandbox(root: Path) -> list[Result]:
    workspace = str(root / "workspace")
    mark = sidecar_mark(root / "data")
    processes = Processes(root / "data", mark, Reaper(process_table(), mark))
    handle = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY)

    async def spawn() -> None:
        await (await asyncio.create_subprocess_exec("true", stdin=-3, stdout=-1, stderr=-1)).communicate()

    async def ours(confinement: Confinement) -> None:
        quiet = lambda stream, text: None  # noqa: E731
        await processes.run(["true"], call_id="b", cwd=handle, timeout=10, output=quiet, confinement=confinement)

    results = []
    try:
        for tier in _tiers():
            confinement = Confinement(tier, CommandLimits(), workspace)
            bare, inside = await _milliseconds(spawn, partial(ours, confinement))
            limit, over = _SANDBOX[tier.tier], inside - bare
            name = f"run `true` in {tier.tier}, over a bare spawn"
            results.append(Result(name, over, "ms", ratio=inside / bare, baseline="a bare spawn", most=limit))
    finally:
        os.close(handle)
        await processes.close()
    return results


async def _git(root: Path) -> list[Result]:
    """A caged `git status` costs at most half as much again as a bare one, and 6 ms."""
    workspace = root / "repository"
    for number in range(200):
        (workspace / f"d{number % 20}").mkdir(parents=True, exist_ok=True)
        (workspace / f"d{number % 20}/f{number}.txt").write_text("x\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(["git", *who, *words], cwd=workspace, check=True, capture_output=True)
    backend = LocalBackend(default_registry(), root / "git-data", sandboxes=Sandboxes())
    host = backend.host(str(workspace))
    words = ["status", "--porcelain=v1", "--branch"]

    async def bare() -> None:
        line = ["git", *words]
        await (await asyncio.create_subprocess_exec(*line, cwd=workspace, stdin=-3, stdout=-1, stderr=-1)).communicate()

    async def caged() -> None:
        await host.git(words, call_id="b", timeout=10, output=lambda stream, text: None)

    try:
        plain, inside = await _milliseconds(bare, caged)
    finally:
        await backend.close()
    over = inside - _GIT_FACTOR * plain
    name = f"`git status` in the sandbox, over {_GIT_FACTOR:g} times a bare one"
    return [Result(name, over, "ms", ratio=inside / plain, baseline="a bare git status", most=_GIT_MILLISECONDS)]


def _tiers() -> list[SandboxTier]:
    """Every sandbox that this machine has, not only the best."""
    program = shutil.which("bwrap")
    found: list[SandboxTier] = [Landlock()] if sys.platform == "linux" else []
    if program is not None:
        found.append(Bubblewrap(program))
    return [tier for tier in found if works(tier)]


def _microseconds(act: Callable[[], object], rounds: int = _ROUNDS) -> float:
    """Of our own processor time, the best of several runs: what else the machine does is not what is measured."""
    act()
    samples = []
    for _ in range(10):
        began = time.process_time()
        for _ in range(rounds // 10):
            act()
        samples.append((time.process_time() - began) / (rounds // 10) * 1e6)
    return min(samples)


async def _milliseconds(*acts: Callable[[], Awaitable[None]]) -> list[float]:
    """In turn, so that what else the machine does is felt by all of them."""
    samples: list[list[float]] = [[] for _ in acts]
    for _ in range(_SPAWNS):
        for act, taken in zip(acts, samples, strict=True):
            began = time.perf_counter()
            await act()
            taken.append((time.perf_counter() - began) * 1e3)
    return [statistics.median(taken) for taken in samples]
