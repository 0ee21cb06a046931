"""The project's tests as a check: those that touch the change, then all of them within a budget.

A failure counts only if it is one of the change: what passes when it is repeated is flaky, what failed before the task
in the same way is known. Both are named, never hidden.
"""

import json
import posixpath
import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from sidecar.verify.cases import cases
from sidecar.verify.change import Change, is_document
from sidecar.verify.copies import NoCopy, copied
from sidecar.verify.related import all_of_them, touching
from sidecar.verify.result import Finding, evidence
from sidecar.verify.runner import Runner
from sidecar.verify.testing import FIX, Failed, TestRun, by_name, located, run_of, selection, telling
from sidecar.wire.base import JsonObject
from sidecar.wire.events import Check
from tools.errors import ToolError
from tools.host import Host
from tools.test_frameworks import MANIFESTS, Framework, find_framework

BEFORE = "in a private copy of the workspace, without the task's changes"
_REPEATED = 30
#: What touches the change may take so many times as long as everything else.
_PATIENCE = 3
_REMEMBERED = 64


class Baselines:
    """What failed in a content of a workspace; the same content is not tried twice."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, ...], TestRun] = OrderedDict()

    def get(self, key: tuple[str, ...]) -> TestRun | None:
        return self._known.get(key)

    def put(self, key: tuple[str, ...], run: TestRun) -> None:
        self._known[key] = run
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


@dataclass(slots=True)
class Suite:
    changes: Sequence[Change]
    request: str
    #: The agent said that the tests pass.
    claimed: bool
    host: Host
    runner: Runner
    mark: str
    seconds: float
    #: Whether its commands run without a question; else only one is asked.
    unasked: bool
    baselines: Baselines
    framework: Framework | None = None
    allowed: bool = False
    _related: list[str] = field(default_factory=list)

    async def check(self) -> list[Finding]:
        if all(is_document(change.path) for change in self.changes):
            return []
        if folder := await self._begun():
            return await self._inside(folder)
        try:
            self.framework = await find_framework(self.host)
        except ToolError as error:
            if error.code == "no_tests" and (folder := await self._project()):
                return await self._inside(folder)
            why = "No tests were found." if error.code == "no_tests" else f"No tests were run: {error.message}"
            return [Finding(notes=[why])]
        self._related = await touching(self.changes, self.host, f"{self.mark}.search")
        targets = selection(self.framework, await self._script(), self._related) if self.unasked else []
        if not targets:
            found = await self._judged("all tests", await self._run("all-tests", [], self.seconds), [])
            far = not self._related and any(finding.proves for finding in found)
            return [*found, Finding(notes=["None of the tests names what was changed."])] if far else found
        selected = await self._run("tests", targets, self.seconds * _PATIENCE)
        first = await self._judged("tests that touch the change", selected, targets)
        if selected.state != "ran" or any(finding.check and not finding.check.passed for finding in first):
            return first
        if await all_of_them(self.host, f"{self.mark}.search") <= set(targets):
            return first  # these were all
        whole = await self._run("all-tests", [], self.seconds)
        if whole.state == "late":
            limit = f"All tests take longer than {self.seconds:g} s; those that touch the change were run."
            return [*first, Finding(notes=[limit])]
        return [*first, *await self._judged("all tests", whole, [])]

    async def _begun(self) -> str:
        """The folder of a project that this change is the beginning of: nothing around it can depend on it yet, and
        who runs the tests of the workspace from outside does not run them as the project wants them to be run."""
        folder = await self._project()
        new = {change.path for change in self.changes if change.before is None}
        return folder if any(f"{folder}/{name}" in new for name in MANIFESTS) else ""

    async def _project(self) -> str:
        """The folder that all of the change is in, if it is a project with tests of its own."""
        folder = posixpath.commonpath([posixpath.dirname(change.path) for change in self.changes])
        while folder:
            try:
                if (await find_framework(self.host, [folder])).folder == folder:
                    return folder
            except ToolError:
                pass
            folder = posixpath.dirname(folder)
        return ""

    async def _inside(self, folder: str) -> list[Finding]:
        """The tests of a project that is a folder of the workspace: all of them, and a failure is of the change."""
        run = await self._run("all-tests", [folder], self.seconds)
        if run.state != "ran" or run.green:
            return await self._judged("all tests", run, [])
        lines = [located(each, run.output) for each in run.failures] or telling(run.output)
        return [Finding(_check("all tests", run, False, lines))]

    async def _script(self) -> str:
        if self.framework is None or self.framework.name != "npm":
            return ""
        try:
            return str(json.loads(await self.host.read("package.json", 1 << 20))["scripts"]["test"])
        except (ToolError, ValueError, KeyError, TypeError):
            return ""

    async def _run(self, name: str, targets: Sequence[str], seconds: float | None = None) -> TestRun:
        args: JsonObject = {"target": [*targets]} if targets else {}
        outcome = await self.runner.run(name, "run_tests", args, seconds=seconds, allowed=self.allowed)
        run = run_of(outcome, seconds)
        # Whoever allowed all of the tests has allowed some of them, once more.
        self.allowed = self.allowed or run.state == "ran"
        return run

    async def _judged(self, name: str, run: TestRun, targets: Sequence[str]) -> list[Finding]:
        if run.state != "ran":
            told = {"refused": "The tests were not run: ", "late": "The tests were ended: "}
            return [Finding(notes=[told.get(run.state, "The tests could not be run: ") + run.why])]
        if run.empty:
            return [await self._none_ran(targets)]
        if run.green:
            return [Finding(_check(name, run, True, []), proves=bool(run.passed) or not run.counted)]
        return await self._failed(name, run, targets)

    async def _none_ran(self, targets: Sequence[str]) -> Finding:
        """No test, although the files hold some, is no reason to believe what the others say."""
        there = [path for path in targets if await self._holds_tests(path)]
        before = (await self._before(there))[0] if there else None
        if there and not (before is not None and before.empty):
            return Finding(
                notes=[f"None of the tests in {', '.join(there)} was run, though there are some."], doubt=True
            )
        return Finding(notes=["Not a single test was found to run."])

    async def _holds_tests(self, path: str) -> bool:
        try:
            return any(not case.skipped for case in cases(path, await self.host.read(path, 1 << 20)).values())
        except ToolError:
            return False

    # -- what a failure means ----------------------------------------------------------------------------------------

    async def _failed(self, name: str, run: TestRun, targets: Sequence[str]) -> list[Finding]:
        again = await self._again(name, run, targets)
        if again is not None and again.green and not again.empty:
            lines = [f"passed when it was repeated (flaky): {located(each, run.output)}" for each in run.failures]
            flaky = _check(name, run, True, lines or ["it passed when it was repeated (flaky)"])
            notes = [f"Flaky: {each.name} failed, and passed when it was repeated." for each in run.failures]
            repeated = _check(f"{name}, repeated", again, True, [])
            return [Finding(flaky, notes=notes), Finding(repeated, proves=True)]
        still = again.names if again is not None and again.names else run.names
        flaky_names = run.names - still
        before, unknown = await self._before([each.file for each in run.failures])
        known = _known(run, before) & still
        held = [each for each in run.failures if each.name in still and each.name not in known]
        held += [each for each in run.failures if each.name in known and self._asked_for(each, run, before, targets)]
        forgiven = [each.name for each in run.failures if each.name in known and each not in held]
        lines = [located(each, run.output) for each in held]
        lines += telling(run.output) if held and not any(each.message for each in held) else []
        lines += [f"failed before the task too: {each}" for each in forgiven]
        lines += [f"passed when it was repeated (flaky): {each}" for each in sorted(flaky_names)]
        notes = [f"Failed before the task too, and is not held against it: {each}" for each in forgiven]
        notes += [f"Flaky: {each} failed, and passed when it was repeated." for each in sorted(flaky_names)]
        if not run.failures:
            return [self._unread(name, run, before, unknown)]
        notes += [unknown] if unknown and held else []
        return [Finding(_check(name, run, not held, lines), proves=not held and run.passed > 0, notes=notes)]

    def _unread(self, name: str, run: TestRun, before: TestRun | None, unknown: str) -> Finding:
        """It failed, and which tests did cannot be read from what it printed."""
        tail = [line for line in run.output.splitlines() if line.strip()][-15:]
        if before is not None and before.state == "ran" and not before.green and not self.claimed:
            if FIX.search(self.request) is None:
                return Finding(notes=[f"{run.command} fails as it did before the task, so it proves nothing."])
            tail.append("It failed before the task too, and was to be mended.")
        return Finding(_check(name, run, False, tail), notes=[unknown] if unknown else [])

    def _asked_for(self, failed: Failed, run: TestRun, before: TestRun | None, targets: Sequence[str]) -> bool:
        """A test that failed before is held against a task that was about it."""
        test = failed.name.rpartition("::")[2].partition("[")[0].partition(" ")[0]
        if re.search(rf"\b{re.escape(test)}\b", self.request) or failed.file.rpartition("/")[2] in self.request:
            return True
        if not self._touches(failed, targets):
            return False
        if self.claimed or not run.passed:
            return True
        mended = before is not None and bool(before.names - run.names)
        return FIX.search(self.request) is not None and not mended

    def _touches(self, failed: Failed, targets: Sequence[str]) -> bool:
        if targets or failed.file in self._related:
            return True
        if not self._related:
            # A test that names its file and touches nothing of the change is another's, unless it was to be mended.
            return "::" not in failed.name or FIX.search(self.request) is not None
        # Not every framework says in which file a test stands; if those that touch the change passed, it is another.
        return "::" not in failed.name and not self.unasked

    async def _again(self, name: str, run: TestRun, targets: Sequence[str]) -> TestRun | None:
        """The failed ones once more, alone where that can be said."""
        assert self.framework is not None
        alone = by_name(self.framework.name, [each.name for each in run.failures][:_REPEATED])
        if len(run.failures) > _REPEATED:
            return None  # so many do not fail by chance
        again = await self._run(f"{name.replace(' ', '-')}-again", alone or targets, self.seconds)
        return again if again.state == "ran" else None

    async def _before(self, failed: Sequence[str]) -> tuple[TestRun | None, str]:
        """The tests of these files, and those that touch the change, without the change; or why that is not known."""
        assert self.framework is not None
        taken_back = {change.path: change.before for change in self.changes}
        files = failed if self.framework.name == "pytest" else []
        wanted = sorted({*files, *(self._related if files else [])})
        there = [path for path in wanted if taken_back.get(path, b"") is not None]
        if files and not there:
            return None, ""  # all of them are new
        try:
            async with copied(self.host.workspace, self.mark, taken_back) as copy:
                key = (copy.content, self.framework.name, *there)
                known = self.baselines.get(key)
                if known is None:
                    args: JsonObject = {"target": [*there]} if there else {}
                    outcome = await self.runner.run(
                        "before",
                        "run_tests",
                        args,
                        seconds=self.seconds,
                        allowed=True,
                        place=copy.place,
                        where=BEFORE,
                    )
                    known = run_of(outcome, self.seconds)
                    self.baselines.put(key, known)
        except NoCopy as error:
            return None, f"Whether it failed before the task is not known: {error}."
        if known.state != "ran":
            return None, f"Whether it failed before the task is not known: {known.why}."
        return known, ""


def _known(run: TestRun, before: TestRun | None) -> set[str]:
    """What failed before, and in the same way: a failure of another kind is another failure."""
    then = {each.name: each.kind for each in before.failures} if before is not None else {}
    return {each.name for each in run.failures if then.get(each.name) == each.kind}


def _check(name: str, run: TestRun, passed: bool, lines: list[str]) -> Check:
    return Check(
        name=name,
        command=run.command,
        exit_code=run.exit_code,
        passed=passed,
        duration_ms=run.duration_ms,
        evidence=evidence(lines),
    )
