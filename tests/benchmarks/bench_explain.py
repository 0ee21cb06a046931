"""Explaining and reviewing a project of 2,000 files, beside one search of its text; and `brain run` from cold."""

import compileall
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.result import Result
from tests.e2e.support import PROJECT, clean_environ
from tests.support.workbench import workbench
from tools.executor.context import BatchContext

FILES = 2_000
ROUNDS = 3
COLD = 5
PACKAGES = 40
#: In each file: enough to have something to parse.
_FUNCTIONS = 12


async def run() -> list[Result]:
    for folder in ("sidecar", "tools", "bridge"):
        compileall.compile_dir(PROJECT / folder, quiet=2)
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        project = root / "project"
        made(project)
        searched = _search(project)
        results = []
        async with workbench(root / "bench") as bench:
            bench.context = BatchContext(str(project), "auto", bench.ledger, "")

            async def timed(name: str, tool: str, **args: Any) -> None:
                times = []
                for _ in range(ROUNDS):
                    began = time.perf_counter()
                    outcome = await bench.call(tool, **args)
                    times.append(time.perf_counter() - began)
                    assert outcome.status == "success", outcome.content
                taken = statistics.median(times)
                results.append(Result(name, taken, "s", ratio=taken / searched, baseline="rg over all of it", most=3))

            await timed("describe a project of 2,000 files", "describe_project")
            await timed("describe a symbol used in one file", "describe_symbol", symbol="only_here_7")
            await timed("describe a symbol used in every file", "describe_symbol", symbol="helper")
            await timed("what a change of it breaks", "find_usages", symbol="helper", transitive=True)
            await timed("describe a file", "describe_file", path="pkg3/module3.py")
            await timed("review 50 files", "review_changes", paths=["pkg3"])
        # The best of some: what else the machine does is not this program's.
        cold = min(_cold(project, root / f"home{number}") for number in range(COLD))
        what = 'cold `brain run "what does this project do"`'
        results.append(Result(what, cold, "s", ratio=cold / searched, baseline="rg over all of it", most=3))
        return results


def made(project: Path) -> None:
    """Packages that import each other, a function that every file uses, and one of its own in each."""
    for number in range(FILES):
        folder = project / f"pkg{number % PACKAGES}"
        folder.mkdir(parents=True, exist_ok=True)
        other = (number * 7 + 1) % FILES
        lines = [f'"""Module {number}."""', f"from pkg{other % PACKAGES}.module{other} import only_here_{other}"]
        lines += ["from pkg0.module0 import helper"] if number else ["", "", "def helper(x):", "    return x"]
        lines += ["", "", f"def only_here_{number}(x):", "    return helper(x)"]
        for each in range(_FUNCTIONS):
            lines += ["", "", f"def step_{each}(value):", "    if value:", f"        return only_here_{other}(value)"]
            lines += ["    return None"]
        (folder / f"module{number}.py").write_text("\n".join(lines) + "\n")
        (folder / "__init__.py").touch()
    (project / "README.md").write_text("# Large\n\nA project of many files that all use each other.\n")
    (project / "pyproject.toml").write_text('[project]\nname = "large"\nversion = "1"\n')


def _search(project: Path) -> float:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run(
            [Path(sys.executable).with_name("rg"), "-c", "helper", "."], cwd=project, capture_output=True, check=True
        )
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _cold(project: Path, home: Path) -> float:
    """With the start of the sidecar, in a home that has seen nothing of it."""
    home.mkdir()
    environ = clean_environ(home, BRAIN_DATA_DIR=str(home / "data"), PYTHONDONTWRITEBYTECODE="")
    environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), environ["PATH"]))
    brain = [sys.executable, "-m", "sidecar"]
    environ["PYTHONPATH"] = str(PROJECT)
    began = time.perf_counter()
    words = [*brain, "run", "what does this project do"]
    done = subprocess.run(words, cwd=project, env=environ, capture_output=True, text=True, check=True, timeout=60)
    taken = time.perf_counter() - began
    assert "A project of many files" in done.stdout, done.stdout
    subprocess.run([*brain, "stop"], env=environ, cwd=project, capture_output=True, check=False, timeout=30)
    return taken
