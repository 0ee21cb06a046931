"""Runs the project's own type checkers and linters on the changed files: a change must not add findings.

Only checkers that the project configures and that are installed run.
"""

import os
import re
import shutil
from collections import Counter
from collections.abc import Sequence

from sidecar.verify.change import FileVersions
from sidecar.verify.result import CheckResult, evidence
from sidecar.verify.runner import CheckRunner, exit_code, is_refused
from sidecar.verify.workspace_copy import BEFORE_LABEL, CopyFailed, copy_workspace
from sidecar.wire.base import JsonObject
from sidecar.wire.events import Check
from tools.code.checkers import ESLINT, MYPY, PYRIGHT, RUFF, TSC, TY, Checker, find_program, is_configured
from tools.environments import without_own_environment
from tools.host import Host
from tools.ledger import Outcome
from tools.paths import as_argument

_CHECKERS = (MYPY, PYRIGHT, TY, TSC, RUFF, ESLINT)
_MAX_FILES = 200
#: eslint names a file on a line of its own, and below it the places.
_HEADING = re.compile(r"^(?P<path>/\S.*\.[cm]?[jt]sx?)$")
_PLACE = re.compile(r"^\s+(?P<place>\d+:\d+)\s+(?P<severity>error|warning)\s+(?P<message>\S.*)$")
_FINDING = re.compile(r"^(?P<path>[^\s:(]+)[:(]\d+(?:[:,]\d+)?[):]*\s*(?P<message>.*)$")


class CheckerRun:
    def __init__(
        self, changes: Sequence[FileVersions], host: Host, runner: CheckRunner, id: str, seconds: float
    ) -> None:
        self._changes = changes
        self._host = host
        self._runner = runner
        self._id = id
        self._seconds = seconds

    async def check(self, *, preapproved: bool) -> list[CheckResult]:
        results: list[CheckResult] = []
        for checker in _CHECKERS:
            files = [
                each.path for each in self._changes if each.after is not None and each.path.endswith(checker.suffixes)
            ]
            program = await self._program(checker) if files else None
            if program is None or (results and checker in (PYRIGHT, TY)):
                continue
            results.append(await self._run_checker(checker, [program, *checker.lines], files[:_MAX_FILES]))
            if not preapproved:
                break  # asking you once is enough
        return results

    async def _program(self, checker: Checker) -> str | None:
        if not await is_configured(checker, self._host):
            return None
        program = await find_program(checker, self._host)
        # Commands don't see the sidecar's own packages, so a checker that is only there can't run.
        path = without_own_environment(os.environ).get("PATH")
        return program if program and ("/" in program or shutil.which(program, path=path)) else None

    async def _run_checker(self, checker: Checker, argv: Sequence[str], files: Sequence[str]) -> CheckResult:
        command = [*argv, *(map(as_argument, files) if checker.by_file else ())]
        outcome = await self._run(checker.name, command)
        code = exit_code(outcome) if outcome is not None else None
        if outcome is None or code is None or is_refused(outcome):
            why = (
                "it took too long" if outcome is None else outcome.error.message if outcome.error else "it did not run"
            )
            return CheckResult(notes=[f"{checker.name} did not check the change: {why.partition('.')[0]}."])
        line = " ".join(command)
        if code == 0:
            return CheckResult(_check(checker, line, outcome, []), proves=checker.checks_types)
        now = _findings(outcome, self._host.workspace)
        new, unknown = await self._new_findings(checker, argv, files, now)
        if not now and unknown is None:
            return CheckResult(notes=[f"{checker.name} exited with code {code} and named no place in the code."])
        notes = [unknown] if unknown and new else []
        if now and not new:
            notes.append(f"{checker.name} reports the same findings as before the task, and nothing new.")
        return CheckResult(_check(checker, line, outcome, new), proves=checker.checks_types and not new, notes=notes)

    async def _new_findings(
        self, checker: Checker, argv: Sequence[str], files: Sequence[str], now: Sequence[str]
    ) -> tuple[list[str], str | None]:
        """Findings that weren't there before the task, compared by message, because lines move."""
        before = {change.path: change.before for change in self._changes}
        existing = [path for path in files if before.get(path) is not None]
        if not now or (checker.by_file and not existing):
            return list(now), None
        if "/" in argv[0]:
            argv = [f"{self._host.workspace}/{argv[0]}", *argv[1:]]
        unknown = f"The findings of {checker.name} before the task are unknown"
        try:
            async with copy_workspace(self._host.workspace, self._id, before) as copy:
                command = [*argv, *(map(as_argument, existing) if checker.by_file else ())]
                outcome = await self._run(f"{checker.name}-before", command, copy.directory)
                directory = copy.directory
        except CopyFailed as error:
            return list(now), f"{unknown}: {error}."
        if outcome is None or exit_code(outcome) is None:
            return list(now), f"{unknown}."
        earlier = Counter(_message(line) for line in _findings(outcome, directory))
        new = []
        for line in now:
            if earlier[_message(line)] > 0:
                earlier[_message(line)] -= 1
            else:
                new.append(line)
        return new, None

    async def _run(self, name: str, argv: Sequence[str], directory: str | None = None) -> Outcome | None:
        args: JsonObject = {"command": [*argv]}
        return await self._runner.run(
            name,
            "run_command",
            args,
            seconds=self._seconds,
            approved=directory is not None,
            directory=directory,
            directory_label=BEFORE_LABEL if directory is not None else "",
        )


def _findings(outcome: Outcome, directory: str) -> list[str]:
    """Every line that names a place: a change may break files that it doesn't touch."""
    details = outcome.details if isinstance(outcome.details, dict) else {}
    found, heading = [], ""
    for line in str(details.get("output", "")).splitlines():
        if named := _HEADING.match(line):
            heading = named["path"].removeprefix(f"{directory}/")
        elif heading and (place := _PLACE.match(line)):
            # Warnings don't make eslint fail.
            if place["severity"] == "error":
                found.append(f"{heading}:{place['place']}: {' '.join(place['message'].split())}")
        elif _FINDING.match(line.strip()) and ": note:" not in line:
            found.append(line.strip())
    return found


def _message(line: str) -> str:
    match = _FINDING.match(line)
    return f"{match['path']} {match['message']}" if match else line


def _check(checker: Checker, command: str, outcome: Outcome, lines: list[str]) -> Check:
    return Check(
        name=checker.kind,
        command=command,
        exit_code=exit_code(outcome),
        passed=not lines,
        duration_ms=outcome.duration_ms,
        evidence=evidence(lines),
    )
