"""A test that vanished is not a pass: it is run once more in its old version, against the new code."""

import re
from collections.abc import Sequence

from sidecar.verify.altered import Vanished, asked_to_remove, vanished
from sidecar.verify.change import Change
from sidecar.verify.copies import NoCopy, copied
from sidecar.verify.result import Finding, evidence
from sidecar.verify.runner import Runner
from sidecar.verify.testing import TestRun, run_of
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


async def vanished_tests(
    changes: Sequence[Change], request: str, host: Host, runner: Runner, mark: str, seconds: float, *, allowed: bool
) -> Finding | None:
    gone = vanished(changes)
    if not gone:
        return None
    excused = [test for test in gone if asked_to_remove(request, test)]
    notes = [f"{test.name} {test.how}, as you asked." for test in excused[:_SHOWN]]
    gone = [test for test in gone if test not in excused]
    if not gone:
        return Finding(notes=notes)
    if not allowed:
        names = ", ".join(test.name for test in gone[:_SHOWN])
        return Finding(notes=[*notes, f"Tests vanished, and were not run again: {names}."], doubt=True)
    paths = list(dict.fromkeys(test.path for test in gone))
    old = {change.path: change.before for change in changes if change.path in paths}
    try:
        async with copied(host.workspace, mark, old) as copy:
            # By file: not every framework can be told one test alone, and a whole old file says no less.
            args: JsonObject = {"target": [*paths]}
            outcome = await runner.run(
                "vanished", "run_tests", args, seconds=seconds, allowed=True, place=copy.place, where=PUT_BACK
            )
            run = run_of(outcome, seconds)
    except NoCopy as error:
        return Finding(notes=[*notes, f"Tests vanished, and could not be run again: {error}."], doubt=True)
    if run.state != "ran" or run.empty:
        return Finding(
            notes=[*notes, f"Tests vanished, and could not be run again: {run.why or 'none was found'}."], doubt=True
        )
    return _judged(gone, run, notes)


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
