"""Tests that the task removed, weakened or wrote without assertions.

A removed test runs once more in its old version, against the new code. So does a test that a bug-fixing task rewrote:
if the old version failed before the task and still fails, the test was changed to suit the code.
"""

import asyncio
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sidecar.verify.cases import Case, find_cases
from sidecar.verify.change import FileVersions
from sidecar.verify.result import CheckResult, evidence, static_result
from sidecar.verify.runner import CheckRunner
from sidecar.verify.runs import ASKS_FOR_FIX, TestRun, parse_run
from sidecar.verify.workspace_copy import BEFORE_LABEL, CopyFailed, copy_workspace
from sidecar.wire.base import JsonObject
from sidecar.wire.events import Check
from tools.host import Host

RESTORED_LABEL = "with the removed tests restored, in a private copy"
HINT = (
    "Tests are there to find problems. Restore the removed ones as they were and fix the code instead; if one of them "
    "is wrong, say why, and ask."
)
_ASSERTION_HINT = "A test proves something only if it fails for wrong code: assert what the code returns or does."
#: A new test with at least this share of the same words counts as the old one, renamed along with the code.
_SIMILARITY = 0.5
_REMOVAL = re.compile(
    r"\b(?:remove|delete|drop|get rid of|discard|clean ?up|prune|retire|skip|disable)\b"
    r"(?P<what>(?:\s+(?!(?:and|then|so|but|make|run|while)\b)[`'\"]?[\w./()-]+[`'\"]?,?){1,8})",
    re.IGNORECASE,
)
_TEST_EDIT = re.compile(
    r"\b(?:update|adjust|change|rewrite|adapt|correct|edit|fix|repair)\w*\s+(?:(?!and\b)\w+\s+){0,3}?tests?\b"
    r"|\btests? (?:is|are) wrong\b",
    re.IGNORECASE,
)
#: Errors of an old test if the code that it tests was renamed.
_MISSING_NAME = re.compile(
    r"ImportError|ModuleNotFoundError|AttributeError|NameError|cannot import|is not defined|undefined"
)
_STATEMENT_END = re.compile(r";\s*|\n|(?<=\{)\s+")
#: One call or condition; braces could hide a statement.
_ASSERTION = re.compile(r"\s*(?:assert\b|expect\(|self\.assert\w+\(|assert\w*[!.(])[^{}]*")
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_COMMON_WORDS = """
the all any its old new this that these those from with for file files code function functions method methods class
module unused dead obsolete deprecated test tests def self assert return import
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_MAX_SHOWN = 10


class RemovedTest(NamedTuple):
    """A test that the task removed, or changed so that it can't fail. `how` says which."""

    path: str
    case: Case
    how: str
    #: A new test does much of the same, so the old one may use names that no longer exist.
    renamed: bool = False

    @property
    def name(self) -> str:
        return f"{self.path}::{self.case.name}"


def find_removed(changes: Sequence[FileVersions]) -> list[RemovedTest]:
    after = {change.path: find_cases(change.path, change.after) for change in changes}
    before = {change.path: find_cases(change.path, change.before) for change in changes}
    new = [case for path, found in after.items() for case in found.values() if case.name not in before[path]]
    removed: list[RemovedTest] = []
    for path, found in before.items():
        for case in found.values():
            if case.skipped or not case.asserts:
                continue
            now = after[path].get(case.name)
            if now is None:
                if not any(other.text == case.text and not other.skipped for other in new):
                    removed.append(RemovedTest(path, case, "was deleted", _is_renamed(case, new)))
            elif now.skipped:
                removed.append(RemovedTest(path, case, "is skipped now"))
            elif not now.asserts:
                removed.append(RemovedTest(path, case, "no longer asserts anything"))
    return removed


def find_rewritten(changes: Sequence[FileVersions]) -> list[RemovedTest]:
    """Tests that kept their name and changed their body."""
    found = []
    for change in changes:
        after = find_cases(change.path, change.after)
        for case in find_cases(change.path, change.before).values():
            now = after.get(case.name)
            if now is not None and case.asserts and not case.skipped and now.asserts and not _extends(case, now):
                found.append(RemovedTest(change.path, case, "was rewritten"))
    return found


def _extends(old: Case, new: Case) -> bool:
    """Whether the new version is the old one, with nothing but further assertions."""
    rest = iter(_STATEMENT_END.split(old.text))
    wanted = next(rest, None)
    for statement in _STATEMENT_END.split(new.text):
        if statement == wanted:
            wanted = next(rest, None)
        elif not _ASSERTION.fullmatch(statement):
            return False
    return wanted is None


def asks_to_remove(request: str, test: RemovedTest) -> bool:
    """Whether your request asks to remove tests, this test, or the code that it tests."""
    for match in _REMOVAL.finditer(request):
        words = _WORD.findall(match["what"])
        if any(word.lower() in ("test", "tests") for word in words):
            return True
        named = [word for word in words if word.lower() not in _COMMON]
        if any(re.search(rf"\b{re.escape(word)}\b", f"{test.case.text} {test.path}") for word in named):
            return True
    return False


def check_assertions(changes: Sequence[FileVersions]) -> CheckResult | None:
    """A new test without assertions passes whatever the code does."""
    new: list[tuple[str, Case]] = []
    for change in changes:
        known = find_cases(change.path, change.before)
        found = find_cases(change.path, change.after)
        new += [(change.path, case) for name, case in found.items() if name not in known]
    if not new:
        return None
    empty = [(path, case) for path, case in new if not case.asserts and not case.skipped]
    problems = [f"{path}:{case.line}: {case.name} asserts nothing, so it can never fail" for path, case in empty]
    return static_result("assertions", problems, hints=[_ASSERTION_HINT] if problems else [])


class RemovedTestsCheck:
    def __init__(
        self,
        changes: Sequence[FileVersions],
        request: str,
        host: Host,
        runner: CheckRunner,
        id: str,
        seconds: float,
    ) -> None:
        self._changes = changes
        self._request = request
        self._host = host
        self._runner = runner
        self._id = id
        self._seconds = seconds

    async def check(self, *, approved: bool) -> CheckResult | None:
        removed = await asyncio.to_thread(find_removed, self._changes)
        excused = [test for test in removed if asks_to_remove(self._request, test)]
        notes = [f"{test.name} {test.how}, as you asked." for test in excused[:_MAX_SHOWN]]
        removed = [test for test in removed if test not in excused]
        # A task that fixes a bug may have changed a test to suit the bug.
        fixes = ASKS_FOR_FIX.search(self._request) is not None and _TEST_EDIT.search(self._request) is None
        rewritten = await asyncio.to_thread(find_rewritten, self._changes) if fixes and approved else []
        if not removed and not rewritten:
            return CheckResult(notes=notes) if notes else None
        if not approved:
            names = ", ".join(test.name for test in removed[:_MAX_SHOWN])
            return CheckResult(notes=[*notes, f"Removed tests were not run again: {names}."], doubt=True)
        paths = list(dict.fromkeys(test.path for test in (*removed, *rewritten)))
        old = {change.path: change.before for change in self._changes}
        run = await self._run("removed", RESTORED_LABEL, {path: old[path] for path in paths}, paths)
        if isinstance(run, str):
            problem = [f"Removed tests could not run again: {run}."] if removed else []
            return CheckResult(notes=[*notes, *problem], doubt=bool(removed))
        # Without names or counts, it may not have come to the tests at all.
        failing = [test for test in rewritten if _fails(test, run)] if run.counted or run.failures else []
        before = await self._run("removed-before", BEFORE_LABEL, old, paths) if failing else None
        # A test that passed before was right for the old code, and may have had to change with it.
        suited = [test for test in failing if isinstance(before, TestRun) and _fails(test, before)]
        notes += [
            f"The task rewrote {test.name}; its old version fails: {_failure(test, run)}"
            for test in failing
            if test not in suited
        ]
        return _judge([*removed, *suited], run, notes)

    async def _run(
        self, name: str, label: str, contents: Mapping[str, bytes | None], paths: Sequence[str]
    ) -> TestRun | str:
        """Runs these test files in a private copy, or returns why that isn't possible."""
        targets = _targets(paths)
        args: JsonObject = {"target": [*targets]} if targets else {}
        try:
            async with copy_workspace(self._host.workspace, self._id, contents) as copy:
                outcome = await self._runner.run(
                    name,
                    "run_tests",
                    args,
                    seconds=self._seconds,
                    approved=True,
                    directory=copy.directory,
                    directory_label=label,
                )
        except CopyFailed as error:
            return str(error)
        run = parse_run(outcome, self._seconds)
        return run if run.state == "ran" and not run.empty else run.why or "none was found"


def _is_renamed(case: Case, new: Sequence[Case]) -> bool:
    words = set(_WORD.findall(case.text))
    for other in new:
        others = set(_WORD.findall(other.text))
        if other.asserts and not other.skipped and len(words & others) >= _SIMILARITY * len(words | others):
            return True
    return False


def _targets(paths: Sequence[str]) -> list[str]:
    """Whole files, because not every framework can run a single test."""
    if any(path.endswith(".rs") for path in paths):
        return []
    return list(dict.fromkeys(f"./{posixpath.dirname(path)}" if path.endswith(".go") else path for path in paths))


def _judge(removed: Sequence[RemovedTest], run: TestRun, notes: list[str]) -> CheckResult:
    problems = []
    for test in removed:
        failure = _failure(test, run)
        if failure is None:
            continue
        if test.renamed and _MISSING_NAME.search(failure):
            notes.append(f"{test.name} was renamed along with the code that it tests.")
        else:
            problems.append(f"{test.name} {test.how}; restored, it fails: {failure}")
    check = Check(
        name="removed tests",
        command=run.command,
        exit_code=run.exit_code,
        passed=not problems,
        duration_ms=run.duration_ms,
        evidence=evidence(problems),
    )
    return CheckResult(check, notes=notes, hints=[HINT] if problems else [])


def _fails(test: RemovedTest, run: TestRun) -> bool:
    failure = _failure(test, run)
    return failure is not None and not _MISSING_NAME.search(failure)


def _failure(test: RemovedTest, run: TestRun) -> str | None:
    """The old test's failure in this run; `None` if it passes."""
    if run.green:
        return None
    short = test.case.name.rpartition("::")[2]
    for failed in run.failures:
        if failed.name.partition("[")[0] == test.name or failed.name == test.path:
            return failed.message or "it fails"
        if "::" not in failed.name and short in failed.name:
            return failed.message or "it fails"
    return None if run.failures else f"exit code {run.exit_code}"
