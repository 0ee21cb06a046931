"""The project's own checkers on the files that changed: their findings must not become more.

Only where the project configures one and it is installed. A type checker that passes is proof; a linter only finds
fault.
"""

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sidecar.verify.change import Change
from sidecar.verify.copies import NoCopy, copied
from sidecar.verify.result import Finding, evidence
from sidecar.verify.runner import Runner, exit_code, refused
from sidecar.verify.suite import BEFORE
from sidecar.wire.base import JsonObject
from sidecar.wire.events import Check
from tools.errors import ToolError
from tools.host import Host
from tools.ledger import Outcome
from tools.paths import as_argument

_SIZE = 1 << 20
_FILES = 200
_PLACE = re.compile(r"^(?P<path>[^\s:(]+)[:(]\d+(?:[:,]\d+)?[):]*\s*(?P<message>.*)$")


class Checker(NamedTuple):
    """`settings` are files that configure it, with the words that must stand in them; one of them is enough."""

    name: str
    suffixes: tuple[str, ...]
    settings: tuple[tuple[str, bytes], ...]
    argv: tuple[str, ...]
    proves: bool
    #: Whether it is told which files to look at, or looks at all of the project.
    by_file: bool = True
    node: bool = False


_PYTHON = (".py", ".pyi")
_SCRIPT = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
CHECKERS = (
    Checker(
        "mypy",
        _PYTHON,
        (("mypy.ini", b""), (".mypy.ini", b""), ("pyproject.toml", b"[tool.mypy"), ("setup.cfg", b"[mypy")),
        ("mypy", "--no-error-summary", "--no-pretty"),
        proves=True,
    ),
    Checker(
        "pyright",
        _PYTHON,
        (("pyrightconfig.json", b""), ("pyproject.toml", b"[tool.pyright")),
        ("pyright",),
        proves=True,
    ),
    Checker(
        "tsc",
        (".ts", ".tsx", ".mts", ".cts"),
        (("tsconfig.json", b""),),
        ("tsc", "--noEmit", "--pretty", "false"),
        proves=True,
        by_file=False,
        node=True,
    ),
    Checker(
        "ruff",
        _PYTHON,
        (("ruff.toml", b""), (".ruff.toml", b""), ("pyproject.toml", b"[tool.ruff")),
        ("ruff", "check", "--no-cache", "--quiet", "--output-format=concise"),
        proves=False,
    ),
    Checker(
        "eslint",
        _SCRIPT,
        (("eslint.config.js", b""), ("eslint.config.mjs", b""), (".eslintrc.json", b""), (".eslintrc.js", b"")),
        ("eslint", "--format=unix"),
        proves=False,
        node=True,
    ),
)


class Diagnosis:
    def __init__(self, changes: Sequence[Change], host: Host, runner: Runner, mark: str, seconds: float) -> None:
        self._changes = changes
        self._host = host
        self._runner = runner
        self._mark = mark
        self._seconds = seconds

    async def check(self, *, unasked: bool) -> list[Finding]:
        found: list[Finding] = []
        for checker in CHECKERS:
            files = [
                each.path for each in self._changes if each.after is not None and each.path.endswith(checker.suffixes)
            ]
            program = await self._program(checker) if files else None
            if program is None or (found and checker.name == "pyright"):
                continue
            found.append(await self._checked(checker, [program, *checker.argv[1:]], files[:_FILES]))
            if not unasked:
                break  # one question is enough
        return found

    async def _program(self, checker: Checker) -> str | None:
        """The project's own before the one on the PATH; nothing if it is not configured or not there."""
        if not any([await self._holds(name, words) for name, words in checker.settings]):
            return None
        folders = ("node_modules/.bin",) if checker.node else (".venv/bin", "venv/bin")
        for folder in folders:
            try:
                await self._host.stat(f"{folder}/{checker.argv[0]}")
            except ToolError:
                continue
            return f"{folder}/{checker.argv[0]}"
        return None if checker.node or shutil.which(checker.argv[0]) is None else checker.argv[0]

    async def _holds(self, name: str, words: bytes) -> bool:
        try:
            return words in await self._host.read(name, _SIZE)
        except ToolError:
            return False

    async def _checked(self, checker: Checker, argv: Sequence[str], files: Sequence[str]) -> Finding:
        named = [*argv, *(map(as_argument, files) if checker.by_file else ())]
        outcome = await self._run(checker.name, named)
        code = exit_code(outcome) if outcome is not None else None
        if outcome is None or code is None or refused(outcome):
            why = (
                "it took too long" if outcome is None else outcome.error.message if outcome.error else "it did not run"
            )
            return Finding(notes=[f"{checker.name} was not asked: {why.partition('.')[0]}."])
        command, kind = " ".join(named), "types" if checker.proves else "lint"
        if code == 0:
            return Finding(_check(kind, command, outcome, []), proves=checker.proves)
        now = _lines(outcome, files)
        new, unknown = await self._new(checker, argv, files, now)
        if not now and unknown is None:
            return Finding(
                notes=[f"{checker.name} ended with exit code {code} and named no place in the changed files."]
            )
        notes = [unknown] if unknown and new else []
        if now and not new:
            notes.append(f"{checker.name} finds what it found before the task, and nothing new.")
        return Finding(_check(kind, command, outcome, new), proves=checker.proves and not new, notes=notes)

    async def _new(
        self, checker: Checker, argv: Sequence[str], files: Sequence[str], now: Sequence[str]
    ) -> tuple[list[str], str | None]:
        """The findings that were not there before, by what they say and not by the line where they say it."""
        taken_back = {change.path: change.before for change in self._changes}
        there = [path for path in files if taken_back.get(path) is not None]
        if not now or (checker.by_file and not there):
            return list(now), None
        if argv[0].startswith(("/", "node_modules", ".venv", "venv")):
            argv = [f"{self._host.workspace}/{argv[0]}", *argv[1:]]
        try:
            async with copied(self._host.workspace, self._mark, taken_back) as copy:
                named = [*argv, *(map(as_argument, there) if checker.by_file else ())]
                outcome = await self._run(f"{checker.name}-before", named, place=copy.place)
        except NoCopy as error:
            return list(now), f"What {checker.name} found before the task is not known: {error}."
        if outcome is None or exit_code(outcome) is None:
            return list(now), f"What {checker.name} found before the task is not known."
        before = Counter(_said(line) for line in _lines(outcome, files))
        return [line for line in now if not _counted_off(before, _said(line))], None

    async def _run(self, name: str, argv: Sequence[str], place: str | None = None) -> Outcome | None:
        args: JsonObject = {"command": [*argv]}
        return await self._runner.run(
            name,
            "run_command",
            args,
            seconds=self._seconds,
            allowed=place is not None,
            place=place,
            where=BEFORE if place is not None else "",
        )


def _lines(outcome: Outcome, files: Sequence[str]) -> list[str]:
    """What it says about the changed files; other files may suffer from the change too, so errors there count."""
    details = outcome.details if isinstance(outcome.details, dict) else {}
    output = str(details.get("output", ""))
    return [line.strip() for line in output.splitlines() if _PLACE.match(line.strip()) and ": note:" not in line]


def _said(line: str) -> str:
    match = _PLACE.match(line)
    return f"{match['path']} {match['message']}" if match else line


def _counted_off(before: Counter[str], said: str) -> bool:
    if before[said] > 0:
        before[said] -= 1
        return True
    return False


def _check(kind: str, command: str, outcome: Outcome, lines: list[str]) -> Check:
    return Check(
        name=kind,
        command=command,
        exit_code=exit_code(outcome),
        passed=not lines,
        duration_ms=outcome.duration_ms,
        evidence=evidence(lines),
    )
