"""Runs the project's tests: first those that touch the change, then all of them within a time limit.

Only failures that the change caused count. A test that passes when repeated is flaky, and one that failed before the
task in the same way is known; the result names both.
"""

import posixpath
import re
from collections import OrderedDict
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from sidecar.verify.cases import find_cases
from sidecar.verify.change import FileVersions, is_document
from sidecar.verify.facts import SuiteFacts
from sidecar.verify.related import find_all_tests, find_related_tests, names_of
from sidecar.verify.result import CheckResult
from sidecar.verify.runner import CheckRunner
from sidecar.verify.runs import (
    ASKS_FOR_FIX,
    FailedTest,
    TestRun,
    as_check,
    find_explanations,
    name_targets,
    parse_run,
    render_failure_line,
    select_targets,
)
from sidecar.verify.workspace_copy import BEFORE_LABEL, CopyFailed, copy_workspace
from sidecar.wire.base import JsonObject
from sidecar.wire.text import listed, plural
from tools.errors import ToolError
from tools.host import Host
from tools.node_package import read_package
from tools.test_files import holds_tests
from tools.test_frameworks import MANIFESTS, Framework, find_framework, is_test_of

#: More failures than this don't happen by chance, so they aren't repeated.
_MAX_REPEATED = 30
#: Related tests may take this many times the limit for all tests.
_RELATED_FACTOR = 3
_MAX_BASELINES = 64
#: So many test files are read when no test ran, and so many of them are named.
_MAX_LISTED = 100
_MAX_NAMED = 5
_TESTS_OR_CODE = ("test.py", "tests.py")
_PYTEST_SETTINGS = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
#: Folders around a change that are looked at, from the change up and from the top down.
_NEAREST = 8
_PREFIXES = {
    "refused": "The tests were not run: ",
    "late": "The tests were stopped: ",
    "missing": "The tests could not run: ",
    "uninstalled": "Not verified: ",
}


class Baselines:
    """Test runs by the content of the workspace; the same content doesn't run twice."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, ...], TestRun] = OrderedDict()

    def get(self, key: tuple[str, ...]) -> TestRun | None:
        return self._known.get(key)

    def put(self, key: tuple[str, ...], run: TestRun) -> None:
        self._known[key] = run
        while len(self._known) > _MAX_BASELINES:
            self._known.popitem(last=False)


@dataclass(slots=True)
class Suite:
    changes: Sequence[FileVersions]
    request: str
    #: The agent reported that all tests pass.
    claims_pass: bool
    host: Host
    runner: CheckRunner
    id: str
    seconds: float
    #: Its commands run without asking you; otherwise you are asked once.
    preapproved: bool
    baselines: Baselines
    #: Files whose tests are reported to pass.
    claimed_files: Collection[str] = ()
    #: The report says that tests pass, and no recorded run of the task supports it.
    unproven: bool = False
    framework: Framework | None = None
    approved: bool = False
    #: For the claims of a report: how many tests there are that pass.
    facts: SuiteFacts = field(default_factory=SuiteFacts)
    _related: list[str] = field(default_factory=list)
    #: Tests that fail, but failed before the task too; in order, each once.
    _excused: dict[str, None] = field(default_factory=dict)

    async def check(self) -> list[CheckResult]:
        found = await self._check()
        return [*found, CheckResult(notes=_excuses(list(self._excused)))] if self._excused else found

    async def _check(self) -> list[CheckResult]:
        if all(is_document(change.path) for change in self.changes) and (self.changes or not self.unproven):
            return []
        if folder := await self._new_project():
            return await self._run_inside(folder)
        try:
            self.framework = await find_framework(self.host)
        except ToolError as error:
            if error.code == "no_tests" and (folder := await self._project()):
                return await self._run_inside(folder)
            self.facts = SuiteFacts(none_ran=error.code == "no_tests")
            why = "No tests were found." if error.code == "no_tests" else f"No tests were run: {error.message}"
            return [CheckResult(notes=[why])]
        related = await find_related_tests(self.changes, self.host, f"{self.id}.search")
        self._related = [path for path in related if await self._collects(path)]
        targets = select_targets(self.framework, await self._script(), self._related) if self.preapproved else []
        if not targets:
            run = await self._run("all-tests", [], self.seconds)
            self.facts = _count(run)
            found = await self._judge("all tests", run, [])
            far = self.changes and not self._related and any(result.proves for result in found)
            return [*found, CheckResult(notes=["No test names the changed files."])] if far else found
        selected = await self._run("tests", targets, self.seconds * _RELATED_FACTOR)
        first = await self._judge("tests that touch the change", selected, targets)
        if selected.state != "ran" or any(result.check and not result.check.passed for result in first):
            return first
        if await find_all_tests(self.host, f"{self.id}.search") <= set(targets):
            self.facts = _count(selected)
            return first  # there are no others
        whole = await self._run("all-tests", [], self.seconds)
        self.facts = _count(whole)
        if whole.state == "late":
            limit = f"All tests take longer than {self.seconds:g} s; only those that touch the change ran."
            return [*first, CheckResult(notes=[limit])]
        return [*first, *await self._judge("all tests", whole, [])]

    async def _collects(self, path: str) -> bool:
        """pytest takes a `tests.py` for tests only if its settings say so; it may also be code."""
        if self.framework is None or self.framework.name != "pytest" or path.rpartition("/")[2] not in _TESTS_OR_CODE:
            return True
        for name in _PYTEST_SETTINGS:
            with suppress(ToolError):
                if b"python_files" in await self.host.read(name, 1 << 20):
                    return True
        return False

    async def _new_project(self) -> str:
        """The folder of a project that this change creates: nothing else can depend on it yet, and its tests must run
        from inside it."""
        folder = await self._project()
        new = {change.path for change in self.changes if change.before is None}
        return folder if any(f"{folder}/{name}" in new for name in MANIFESTS) else ""

    async def _project(self) -> str:
        """The folder with the whole change in it, if that is a project with its own tests."""
        if not self.changes:
            return ""
        parts = posixpath.commonpath([posixpath.dirname(change.path) for change in self.changes]).split("/")
        # Each look reads all names below. Of a very deep tree, the nearest folders and those at the top are enough.
        depths = [depth for depth in range(len(parts), 0, -1) if depth <= _NEAREST or depth > len(parts) - _NEAREST]
        for folder in ("/".join(parts[:depth]) for depth in depths if parts != [""]):
            try:
                if (await find_framework(self.host, [folder])).folder == folder:
                    return folder
            except ToolError:
                continue
        return ""

    async def _run_inside(self, folder: str) -> list[CheckResult]:
        """All tests of a project inside the workspace; every failure counts."""
        self.framework = await find_framework(self.host, [folder])
        run = await self._run("all-tests", [folder], self.seconds)
        self.facts = _count(run)
        if run.state != "ran" or run.green:
            return await self._judge("all tests", run, [])
        lines = [render_failure_line(each, run.output) for each in run.failures] or find_explanations(run.output)
        return [CheckResult(as_check("all tests", run, False, lines))]

    async def _script(self) -> str:
        if self.framework is None or self.framework.name != "npm":
            return ""
        return (await read_package(self.host)).scripts.get("test", "")

    async def _run(self, name: str, targets: Sequence[str], seconds: float | None = None) -> TestRun:
        args: JsonObject = {"target": [*targets]} if targets else {}
        outcome = await self.runner.run(name, "run_tests", args, seconds=seconds, approved=self.approved)
        run = parse_run(outcome, seconds)
        # If you allowed the tests once, running some of them again needs no new approval.
        self.approved = self.approved or run.state == "ran"
        return run

    async def _judge(self, name: str, run: TestRun, targets: Sequence[str]) -> list[CheckResult]:
        if run.state != "ran":
            return [CheckResult(notes=[_PREFIXES[run.state] + run.why], doubt=run.state == "uninstalled")]
        if run.empty:
            return [await self._judge_empty(targets)]
        if run.green:
            return [CheckResult(as_check(name, run, True, []), proves=bool(run.passed) or not run.counted)]
        return await self._judge_failures(name, run, targets)

    async def _judge_empty(self, targets: Sequence[str]) -> CheckResult:
        """If the files have tests and none of them ran, the other results prove nothing."""
        listed = targets or sorted(await self._all_tests())[:_MAX_LISTED]
        there = [path for path in listed if await self._has_tests(path)]
        before = (await self._run_before(there))[0] if there and targets else None
        if there and not (before is not None and before.empty):
            more = f" and {plural(len(there) - _MAX_NAMED, 'more file')}" if len(there) > _MAX_NAMED else ""
            named = f"{', '.join(there[:_MAX_NAMED])}{more}"
            return CheckResult(notes=[f"None of the tests in {named} ran, although there are some."], doubt=True)
        return CheckResult(notes=["No test ran."])

    async def _all_tests(self) -> list[str]:
        """The test files of the project that its framework should collect."""
        assert self.framework is not None
        framework, found = self.framework, await find_all_tests(self.host, f"{self.id}.search")
        inside = "" if framework.folder == "." else f"{framework.folder}/"
        return [path for path in found if path.startswith(inside) and is_test_of(framework.name, path)]

    async def _has_tests(self, path: str) -> bool:
        try:
            return any(not case.skipped for case in find_cases(path, await self.host.read(path, 1 << 20)).values())
        except ToolError:
            return False

    # -- judging failures -------------------------------------------------------------------------------------------

    async def _judge_failures(self, name: str, run: TestRun, targets: Sequence[str]) -> list[CheckResult]:
        again = await self._repeat(name, run, targets)
        if again is not None and again.green and not again.empty:
            lines = [f"passed when repeated (flaky): {render_failure_line(each, run.output)}" for each in run.failures]
            flaky = as_check(name, run, True, lines or ["passed when repeated (flaky)"])
            notes = [f"Flaky: {each.name} failed, then passed when repeated." for each in run.failures]
            repeated = as_check(f"{name}, repeated", again, True, [])
            return [CheckResult(flaky, notes=notes), CheckResult(repeated, proves=True)]
        still = again.names if again is not None and again.names else run.names
        flaky_names = run.names - still
        alone = again is not None and again.names >= run.names
        before, unknown = await self._run_before([each.file for each in run.failures], run.failures if alone else ())
        known = _known(run, before) & still
        counted = [each for each in run.failures if each.name in still and each.name not in known]
        counted += [each for each in run.failures if each.name in known and self._is_about(each, run, before, targets)]
        excused = [each.name for each in run.failures if each.name in known and each not in counted]
        lines = [render_failure_line(each, run.output) for each in counted]
        lines += find_explanations(run.output) if counted and not any(each.message for each in counted) else []
        lines += [f"failed before the task too: {each}" for each in excused]
        lines += [f"passed when repeated (flaky): {each}" for each in sorted(flaky_names)]
        self._excused.update(dict.fromkeys(excused))
        notes = [f"Flaky: {each} failed, then passed when repeated." for each in sorted(flaky_names)]
        if not run.failures:
            return [self._judge_unparsed(name, run, before, unknown)]
        notes += [unknown] if unknown and counted else []
        return [
            CheckResult(as_check(name, run, not counted, lines), proves=not counted and run.passed > 0, notes=notes)
        ]

    def _judge_unparsed(self, name: str, run: TestRun, before: TestRun | None, unknown: str) -> CheckResult:
        """It failed, but its output doesn't say which tests did."""
        tail = [line for line in run.output.splitlines() if line.strip()][-15:]
        if before is not None and before.state == "ran" and not before.green and not self.claims_pass:
            if ASKS_FOR_FIX.search(self.request) is None:
                return CheckResult(notes=[f"{run.command} fails as it did before the task, so it proves nothing."])
            tail.append("It failed before the task too, and the task was to fix it.")
        return CheckResult(as_check(name, run, False, tail), notes=[unknown] if unknown else [])

    def _is_about(self, failed: FailedTest, run: TestRun, before: TestRun | None, targets: Sequence[str]) -> bool:
        """A test that failed before counts if the task was about it."""
        test = failed.name.rpartition("::")[2].partition("[")[0].partition(" ")[0]
        # Not every framework names the file: then it is the title of the test.
        names = (test, failed.file.rpartition("/")[2])
        if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.request) for name in names if name):
            return True
        if not self._touches(failed, targets):
            return False
        if failed.missing_module:
            # It was missing before the task: a matter of the set-up, unless the request is about that.
            return failed.missing_module in self.request
        claimed = any(f"/{failed.file}".endswith(f"/{path}") for path in self.claimed_files)
        if self.claims_pass or claimed or not run.passed:
            return True
        mended = before is not None and bool(before.names - run.names)
        if ASKS_FOR_FIX.search(self.request) is None or mended:
            return False
        # A fix with tests of its own need not mend those of files that only import what changed.
        return self._is_close(failed.file) or not any(_adds_tests(change) for change in self.changes)

    def _is_close(self, path: str) -> bool:
        """A changed test file, or one that is named after a changed file."""
        # `parser.py` also names test_parsers.py and ParserTest.java, `par.py` neither.
        words = [rf"(?<![A-Za-z0-9]){re.escape(name)}s?(?![a-z0-9])" for name in names_of(self.changes)]
        named = any(re.search(word, posixpath.basename(path)) for word in words)
        return named or any(change.path == path for change in self.changes)

    def _touches(self, failed: FailedTest, targets: Sequence[str]) -> bool:
        if targets or failed.file in self._related:
            return True
        if not self._related:
            # A test in another file is unrelated, unless the task was to fix it.
            return "::" not in failed.name or ASKS_FOR_FIX.search(self.request) is not None
        # Not every framework names the file; if the related tests passed, this one is unrelated.
        return "::" not in failed.name and not self.preapproved

    async def _repeat(self, name: str, run: TestRun, targets: Sequence[str]) -> TestRun | None:
        """Runs the failed tests again, alone if the framework can."""
        assert self.framework is not None
        alone = name_targets(self.framework.name, [each.name for each in run.failures][:_MAX_REPEATED])
        if len(run.failures) > _MAX_REPEATED:
            return None
        again = await self._run(f"{name.replace(' ', '-')}-again", alone or targets, self.seconds)
        return again if again.state == "ran" else None

    async def _run_before(self, failed: Sequence[str], alone: Sequence[FailedTest] = ()) -> tuple[TestRun | None, str]:
        """Runs these files' tests and the related ones without the change; or says why that isn't possible.

        If tests fail `alone`, and their files are as they were, nothing else needs to run.
        """
        assert self.framework is not None
        before_task = {change.path: change.before for change in self.changes}
        named = all(is_test_of(self.framework.name, path) for path in failed)
        files = failed if self.framework.name == "pytest" or named else []
        wanted = sorted({*files, *(self._related if files else [])})
        if self.framework.name != "pytest":
            wanted = select_targets(self.framework, await self._script(), wanted)
        there = [path for path in wanted if before_task.get(path, b"") is not None]
        if alone and self._is_enough(alone):
            there = [each.name for each in alone]
        if wanted and not there:
            return None, ""  # all tests are new
        seconds = self.seconds * (_RELATED_FACTOR if there else 1)
        try:
            async with copy_workspace(self.host.workspace, self.id, before_task) as copy:
                key = (copy.content, self.framework.name, *there)
                known = self.baselines.get(key)
                if known is None:
                    args: JsonObject = {"target": [*there]} if there else {}
                    outcome = await self.runner.run(
                        "before",
                        "run_tests",
                        args,
                        seconds=seconds,
                        approved=True,
                        directory=copy.directory,
                        directory_label=BEFORE_LABEL,
                    )
                    known = parse_run(outcome, seconds)
                    self.baselines.put(key, known)
        except CopyFailed as error:
            return None, f"Unknown whether it failed before the task: {str(error).rstrip('.')}."
        if known.state != "ran":
            return None, f"Unknown whether it failed before the task: {known.why.rstrip('.')}."
        return known, ""

    def _is_enough(self, alone: Sequence[FailedTest]) -> bool:
        """Whether just these tests can run without the change. A fix is also judged by what else it mended."""
        changed = {change.path for change in self.changes}
        named = self.framework is not None and self.framework.name == "pytest"
        known = all("::" in each.name and each.file not in changed for each in alone)
        return named and known and ASKS_FOR_FIX.search(self.request) is None


def _adds_tests(change: FileVersions) -> bool:
    if change.after is None or not holds_tests(change.path):
        return False
    return bool(find_cases(change.path, change.after).keys() - find_cases(change.path, change.before).keys())


def _excuses(names: Sequence[str]) -> list[str]:
    they = "they don't count" if len(names) > 1 else "it doesn't count"
    return [f"Failed before the task too, so {they}: {listed(names, _MAX_NAMED)}"]


def _count(run: TestRun) -> SuiteFacts:
    """A run of all tests; one without counts says nothing."""
    if run.state != "ran" or not run.counted:
        return SuiteFacts()
    return SuiteFacts(passed=run.passed, none_ran=run.empty)


def _known(run: TestRun, before: TestRun | None) -> set[str]:
    """Tests that failed before with the same kind of error."""
    then = {each.name: each.kind for each in before.failures} if before is not None else {}
    return {each.name for each in run.failures if then.get(each.name) == each.kind}
