"""What a rename costs in a project of 2,000 files, beside the search that finds the files."""

import asyncio
import tempfile
import time
from pathlib import Path

from tests.benchmarks.result import Result
from tools.executor.context import BatchContext, ToolCall
from tools.executor.executor import Executor
from tools.executor.registry import default_registry
from tools.ledger import ListLedger
from tools.local.backend import LocalBackend
from tools.policy.policy import Policy
from tools.ripgrep import ripgrep

_FILES = 2_000
_FOLDERS = 50
#: Of a hundred files, so many use what is renamed.
_USERS = 15


async def run() -> list[Result]:
    results: list[Result] = []
    for language, write in (("Python", _python), ("TypeScript", _script)):
        with tempfile.TemporaryDirectory() as root:
            workspace = Path(root) / "workspace"
            write(workspace)
            registry = default_registry()
            executor = Executor(registry, [LocalBackend(registry, Path(root) / "data")], Policy(), None)
            try:
                results += await _measured(language, workspace, executor)
            finally:
                await executor.close()
    return results


async def _measured(language: str, workspace: Path, executor: Executor) -> list[Result]:
    taken: dict[str, list[float]] = {"function": [], "method": []}
    names = ["compute", "reckon"]
    for number in range(3):
        old, new = names[number % 2], names[1 - number % 2]
        calls = {
            "function": ("rename_symbol", {"symbol": old, "newName": new}),
            "method": ("rename_symbol", {"symbol": f"Store.{old}_all", "newName": f"{new}_all"}),
        }
        for what, (tool, args) in calls.items():
            began = time.perf_counter()
            (outcome,) = await executor.batch(
                [ToolCall(f"{what}{number}", tool, dict(args))], BatchContext(str(workspace), "auto", ListLedger())
            )
            taken[what].append(time.perf_counter() - began)
            assert outcome.status == "success", outcome.content
            assert f" in {_FILES * _USERS // 100 + (2 if what == 'function' else 1)} files" in outcome.content
    bare = await _search(workspace)
    return [
        Result(
            f"rename a {what} in 2,000 {language} files",
            min(times),
            "s",
            ratio=min(times) / bare,
            baseline="rg -l of the name",
            most=3,
        )
        for what, times in taken.items()
        if times
    ]


async def _search(workspace: Path) -> float:
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            ripgrep(), "-l", r"\breckon\b", ".", cwd=workspace, stdout=asyncio.subprocess.PIPE
        )
        await process.communicate()
        best = min(best, time.perf_counter() - began)
    return best


def _uses(number: int) -> bool:
    return number % 100 < _USERS


def _python(workspace: Path) -> None:
    (workspace / "app").mkdir(parents=True)
    (workspace / "app/__init__.py").write_text("from .core import Store, compute\n")
    (workspace / "app/core.py").write_text(
        "def compute(value):\n    return value\n\n\n"
        "class Store:\n    def compute_all(self):\n        return compute(1)\n"
    )
    for number in range(_FILES):
        folder = workspace / f"part{number % _FOLDERS}"
        folder.mkdir(exist_ok=True)
        lines = ["import os", ""]
        if _uses(number):
            lines = ["from app import Store, compute", "import app.core", ""]
            lines += ["def use(store: Store):", "    return store.compute_all(), compute(2), app.core.compute(3)", ""]
        for each in range(12):
            lines += [
                f"def function_{number}_{each}(left, right={each}):",
                f'    """Adds {each}."""',
                "    total = [left + item for item in range(right) if item % 2]",
                "    return {'total': total, 'text': f'{left} and {right}'}",
                "",
            ]
        (folder / f"module{number}.py").write_text("\n".join(lines))


def _script(workspace: Path) -> None:
    (workspace / "app").mkdir(parents=True)
    (workspace / "app/index.ts").write_text("export { compute, Store } from './core';\n")
    (workspace / "app/core.ts").write_text(
        "export function compute(value: number) { return value; }\n"
        "export class Store { compute_all() { return compute(1); } }\n"
    )
    for number in range(_FILES):
        folder = workspace / f"part{number % _FOLDERS}"
        folder.mkdir(exist_ok=True)
        lines = ["import fs from 'fs';", ""]
        if _uses(number):
            lines = ["import { compute, Store } from '../app';", "import * as core from '../app/core';", ""]
            lines += ["export function use(store: Store) {"]
            lines += ["  return [store.compute_all(), compute(2), core.compute(3)];", "}", ""]
        for each in range(12):
            lines += [
                f"export function function_{number}_{each}(left: number, right = {each}) {{",
                "  const total = [1, 2, 3].filter((item) => item > left).map((item) => ({ item, left }));",
                "  return { total, text: `${left} and ${right}` };",
                "}",
                "",
            ]
        (folder / f"module{number}.ts").write_text("\n".join(lines))
