"""A test that vanished is not a pass: it is run once more in its old version, against the new code.

So is one that was rewritten by a task that should mend something: if it failed before the task and, as it was, still
does, then it was made to suit the code.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence

from sidecar.verify.altered import Vanished, asked_for_other_tests, asked_to_remove, rewritten, vanished
from sidecar.verify.change import Change
from sidecar.verify.copies import NoCopy, copied
from sidecar.verify.result import Finding, evidence
from sidecar.verify.runner import Runner
from sidecar.verify.suite import BEFORE
from sidecar.verify.testing import FIX, TestRun, run_of
from sidecar.wire.base import JsonObject
from sidecar.wire.events import Check
from tools.host import Host

PUT_BACK = "in a private copy of the workspace, with the tests that vanished put back"
HINT = (
    "Tests are there to find what is wrong. Put the ones that vanished back as they were, and mend the code instead; "
    "if one of them is wrong, say why, and ask."
)
#: What an old test runs into when what it tests was renamed along with it.
_NAMES_GONE = re.compile(
    r"ImportError|ModuleNotFoundError|AttributeError|NameError|cannot import|is not defined|undefined"
)
_SHOWN = 10


class Vanishings:
    def __init__(self, changes: Sequence[Change], request: str, host: Host, runner: Runner, mark: str, seconds: float):
        self._changes = changes
        self._request = request
        self._host = host
        self._runner = runner
        self._mark = mark
        self._seconds = seconds

    async def check(self, *, allowed: bool) -> Finding | None:
        gone = vanished(self._changes)
        excused = [test for test in gone if asked_to_remove(self._request, test)]
        notes = [f"{test.name} {test.how}, as you asked." for test in excused[:_SHOWN]]
        gone = [test for test in gone if test not in excused]
        # In a task that should mend something, a test may have been made to suit what is wrong.
        mends = FIX.search(self._request) is not None and not asked_for_other_tests(self._request)
        suited = rewritten(self._changes) if mends and allowed else []
        if not gone and not suited:
            return Finding(notes=notes) if notes else None
        if not allowed:
            names = ", ".join(test.name for test in gone[:_SHOWN])
            return Finding(notes=[*notes, f"Tests vanished, and were not run again: {names}."], doubt=True)
        paths = list(dict.fromkeys(test.path for test in (*gone, *suited)))
        old = {change.path: change.before for change in self._changes}
        run = await self._run("vanished", PUT_BACK, {path: old[path] for path in paths}, paths)
        if isinstance(run, str):
            told = [f"Tests vanished, and could not be run again: {run}."] if gone else []
            return Finding(notes=[*notes, *told], doubt=bool(gone))
        still = [test for test in suited if _fails(test, run)]
        before = await self._run("vanished-before", BEFORE, old, paths) if still else None
        # What passed before was right for the old code, and may have had to change with it.
        held = [test for test in still if isinstance(before, TestRun) and _fails(test, before)]
        notes += [
            f"{test.name} was rewritten by the task, and fails as it was: {_failure(test, run)}"
            for test in still
            if test not in held
        ]
        return _judged([*gone, *held], run, notes)

    async def _run(self, name: str, where: str, put: Mapping[str, bytes | None], paths: Sequence[str]) -> TestRun | str:
        """What these files of tests come to in a private copy; or why that cannot be known."""
        try:
            async with copied(self._host.workspace, self._mark, put) as copy:
                args: JsonObject = {"target": [*targets]} if (targets := _targets(paths)) else {}
                outcome = await self._runner.run(
                    name, "run_tests", args, seconds=self._seconds, allowed=True, place=copy.place, where=where
                )
        except NoCopy as error:
            return str(error)
        run = run_of(outcome, self._seconds)
        return run if run.state == "ran" and not run.empty else run.why or "none was found"


def _targets(paths: Sequence[str]) -> list[str]:
    """By file: not every framework can be told one test alone, and a whole old file says no less."""
    if any(path.endswith(".rs") for path in paths):
        return []
    return list(dict.fromkeys(f"./{posixpath.dirname(path)}" if path.endswith(".go") else path for path in paths))


def _judged(gone: Sequence[Vanished], run: TestRun, notes: list[str]) -> Finding:
    problems = []
    for test in gone:
        said = _failure(test, run)
        if said is None:
            continue
        if test.renamed and _NAMES_GONE.search(said):
            notes.append(f"{test.name} was renamed along with what it tests.")
        else:
            problems.append(f"{test.name} {test.how}; put back, it fails: {said}")
    check = Check(
        name="vanished tests",
        command=run.command,
        exit_code=run.exit_code,
        passed=not problems,
        duration_ms=run.duration_ms,
        evidence=evidence(problems),
    )
    return Finding(check, notes=notes, hints=[HINT] if problems else [])


def _fails(test: Vanished, run: TestRun) -> bool:
    said = _failure(test, run)
    return said is not None and not _NAMES_GONE.search(said)


def _failure(test: Vanished, run: TestRun) -> str | None:
    """What the old test says now; nothing if it passes."""
    if run.green:
        return None
    short = test.case.name.rpartition("::")[2]
    for failed in run.failures:
        if failed.name.partition("[")[0] == test.name or failed.name == test.path:
            return failed.message or "it fails"
        if "::" not in failed.name and short in failed.name:
            return failed.message or "it fails"
    return None if run.failures else f"exit code {run.exit_code}"
